// The router of a mixture of experts, once for every vector width: include
// after argmax_vec.h.

// The sum of the two highest of n values, or the highest alone.
FN float group_score(const float *x, int64_t n, int two) {
	float first = -INFINITY, second = -INFINITY;
	for (int64_t i = 0; i < n; i++) {
		if (x[i] > first)
			second = first, first = x[i];
		else if (x[i] > second)
			second = x[i];
	}
	return two && n > 1 ? first + second : first;
}

// Scores of n logits, a whole number of vectors: past the experts −∞.
FN void score(const float *logits, float *s, int64_t n, int sigmoids) {
	vec top = v_set1(-INFINITY), total = v_set1(0), log2e = v_set1(1.44269504f);
	if (sigmoids) {
		for (int64_t i = 0; i < n; i += LANES)
			v_store(s + i, sigmoid(v_load(logits + i)));
		return;
	}
	for (int64_t i = 0; i < n; i += LANES)
		top = v_max(v_load(logits + i), top);
	top = v_set1(v_highest(top));
	for (int64_t i = 0; i < n; i += LANES) {
		vec e = v_exp2(v_mul(v_sub(v_load(logits + i), top), log2e));
		v_store(s + i, e);
		total = v_add(total, e);
	}
	vec inverse = v_set1(1 / v_sum(total));
	for (int64_t i = 0; i < n; i += LANES)
		v_store(s + i, v_mul(v_load(s + i), inverse));
}

// DG_ROUTE: each part has whole tokens.
TARGET void OP(route)(const dg_op *op, int part, int parts) {
	int64_t experts = op->cols, n = (experts + 15) / 16 * 16, k = op->n0, groups = op->n1, flags = op->n3;
	_Alignas(64) float logits[DG_EXPERTS], s[DG_EXPERTS], choice[DG_EXPERTS], of_group[DG_EXPERTS];
	for (int64_t token = part; token < op->m; token += parts) {
		memcpy(logits, (const float *)op->x + token * experts, sizeof *logits * experts);
		for (int64_t i = experts; i < n; i++)
			logits[i] = -INFINITY;
		score(logits, s, n, flags & DG_ROUTE_SIGMOID);
		const float *bias = op->w;
		for (int64_t i = 0; i < n; i++)
			choice[i] = i >= experts ? -INFINITY : bias ? s[i] + bias[i] : s[i];
		if (groups > 1) {
			int64_t each = experts / groups;
			for (int64_t g = 0; g < groups; g++)
				of_group[g] = group_score(choice + g * each, each, flags & DG_ROUTE_TWO);
			float unused;
			for (int64_t kept = 0; kept < op->n2; kept++) // NaN marks what stays: it is never the highest
				of_group[highest_of(of_group, groups, &unused)] = NAN;
			for (int64_t g = 0; g < groups; g++)
				for (int64_t i = 0; of_group[g] == of_group[g] && i < each; i++)
					choice[g * each + i] = -INFINITY;
		}
		int32_t *ids = (int32_t *)op->y + token * k;
		float *weights = (float *)op->y2 + token * k, sum = 0, unused;
		for (int64_t i = 0; i < k; i++) {
			int64_t expert = highest_of(choice, n, &unused);
			choice[expert] = -INFINITY;
			ids[i] = (int32_t)expert;
			weights[i] = s[expert];
			sum += s[expert];
		}
		// Scores that all underflowed stay zero.
		float scale = flags & DG_ROUTE_RENORMALISE ? op->f0 / fmaxf(sum, 1e-20f) : op->f0;
		for (int64_t i = 0; i < k; i++)
			weights[i] *= scale;
	}
}
