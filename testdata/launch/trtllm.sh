mpirun -n 1 --oversubscribe \
  env NCCL_DEBUG=TRACE TLLM_LOG_LEVEL=INFO \
  trtllm-serve example/DeepSeek-FP4 --tp_size 8 --ep_size 8 --max_batch_size 128 --extra_llm_api_options ./options.yaml --host 10.1.2.3
