package sim

// hash mixes a seed with texts; the same in every process and version.
func hash(seed uint64, parts ...string) uint64 {
	h := mix(seed + 0x9e3779b97f4a7c15)
	for _, p := range parts {
		// FNV-1a, with what follows kept apart from what came before.
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * 0x100000001b3
		}
		h = mix(h ^ uint64(len(p)))
	}
	return h
}

// mix spreads every bit over all of them (the finalizer of SplitMix64). It loses
// nothing: unmix takes it back.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func unmix(x uint64) uint64 {
	x = (x ^ x>>31 ^ x>>62) * 0x319642b2d24d8ec3
	x = (x ^ x>>27 ^ x>>54) * 0x96de1b173f119089
	return x ^ x>>30 ^ x>>60
}

// unit makes a number from 0 to below 1.
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }
