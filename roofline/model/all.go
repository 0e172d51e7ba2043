package model

// All lists the model families. To add one, write arch_<family>.go and name it
// here (docs/extend/model.md).
var All = []Arch{
	llama, phi3, gemma3, gemma2, glm, olmo, cohere, starcoder2, internLM2, mixtral, qwenMoE, glm4moe, minimax, gptOSS, llama4,
	deepseek, qwenNext, nemotronH, nemotron4, mamba2LM, falconH1,
}
