NCCL_IB_DISABLE=1 NCCL_P2P_LEVEL=5 NCCL_MIN_NCHANNELS=8 OMP_NUM_THREADS=8 SAFETENSORS_FAST_GPU=1 CUDA_HOME=/usr/local/cuda-12.8 \
python3 -u -m sglang.launch_server --model lukealonso/GLM-5-NVFP4 --served-model-name glm-5 --reasoning-parser glm45 --tool-call-parser glm47 \
  --trust-remote-code --tp-size 8 --mem-fraction-static 0.92 --max-running-requests 2048 --kv-cache-dtype auto --quantization modelopt_fp4 \
  --attention-backend flashinfer --fp8-gemm-backend cutlass --nsa-decode-backend trtllm --nsa-prefill-backend trtllm \
  --moe-runner-backend flashinfer_cutedsl --disable-cuda-graph --disable-radix-cache --num-continuous-decode-steps 16 --host 0.0.0.0 --port 8000
