package inventory

// Places counts assets by account, region and type.
type Places map[string]map[string]map[string]int

func (p Places) add(account, region, typ string) {
	regions := p[account]
	if regions == nil {
		regions = make(map[string]map[string]int)
		p[account] = regions
	}
	types := regions[region]
	if types == nil {
		types = make(map[string]int)
		regions[region] = types
	}
	types[typ]++
}

// ByType adds the places up.
func (p Places) ByType() map[string]int {
	sum := make(map[string]int)
	for _, regions := range p {
		for _, types := range regions {
			for typ, n := range types {
				sum[typ] += n
			}
		}
	}
	return sum
}
