GGML_CUDA_DISABLE_GRAPHS=1 ./build/bin/llama-server -m models/gpt-oss-120b-mxfp4.gguf -a oss -ngl 99 -ncmoe 12 -ot "blk\.1[0-9]\.ffn_.*_exps\.=CPU" \
  -fa on -ctk q8_0 -ctv q8_0 -np 4 -c 32768 -t -1 --jinja --no-mmap --api-key-file keys.txt --host 127.0.0.1
