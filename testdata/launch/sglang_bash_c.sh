docker run --gpus all -e SGLANG_ENABLE_SPEC_V2=True --entrypoint bash lmsysorg/sglang:latest -lc '
  export NCCL_MIN_NCHANNELS=8
  nsys profile -o run sglang serve --model-path example/MoE-NVFP4 --tp "$TP" --dp-size 8 --enable-dp-attention \
    --cuda-graph-max-bs 16 --max-running-requests 64 --speculative-algorithm EAGLE --speculative-num-draft-tokens 4 \
    --speculative-num-steps 3 --moe-a2a-backend deepep --stream-interval 60 --attention-backend flashinfer $EXTRA_ARGS
'
