export NCCL_P2P_LEVEL=NVL   # of the host's shell: the container does not get it
docker run -d --rm --gpus all --ipc=host -p 8000:8000 \
  -v ~/.cache/huggingface:/data/huggingface \
  -e HUGGING_FACE_HUB_TOKEN -e NCCL_P2P_DISABLE=1 --env CUDA_LAUNCH_BLOCKING=1 -eNCCL_PROTO=LL,LL128 \
  --env-file site.env --name server \
  vllm/vllm-openai:latest \
  --model /models/private/Qwen3-235B --tensor_parallel_size=8 --enforce-eager --disable-custom-all-reduce --swap-space 4
