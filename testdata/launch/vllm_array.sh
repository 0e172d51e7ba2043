#!/usr/bin/env bash
# A vLLM server whose arguments are gathered in arrays.
set -euo pipefail

export CUDA_VISIBLE_DEVICES=0,1,2,3
export OMP_NUM_THREADS=4 TOKENIZERS_PARALLELISM=false
export HF_TOKEN=hf_notARealTokenButShapedLikeOne12
NCCL_PROTO=Simple # not exported: no server sees it
if [[ -n "${SLOW_BOX:-}" ]]; then
  export NCCL_P2P_DISABLE=1
fi

SPEC='{"method":"mtp","num_speculative_tokens":3,"model":"org/drafts"}'
ARGS=(
  --served-model-name glm "glm-air"     # two names
  --tensor-parallel-size 4
  -dp 2 --enable-expert-parallel
  --kv-cache-dtype fp8
  --api-key "s3cr3t value"
  --max-num-seqs 256
  -O3 -cc.cudagraph_mode=FULL_DECODE_ONLY
  --compilation-config '{"max_cudagraph_capture_size": 64, "cache_dir": "/home/someone/cache"}'
  --speculative-config '{"method":"mtp","num_speculative_tokens":3,"model":"org/drafts"}'
)
if [[ "${LONG:-0}" == 1 ]]; then
  ARGS+=( --decode-context-parallel-size 4 )
fi

echo "starting vllm serve for $MODEL_DIR" >&2
exec numactl --interleave=all vllm serve example/GLM-Air-FP8 "${ARGS[@]}" --no-async-scheduling > >(tee "$LOG") 2>&1
