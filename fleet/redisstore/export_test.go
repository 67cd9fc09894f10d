package redisstore

// Scripts are the texts of all scripts.
var Scripts = []string{bucketText, learnText, slotsText, membersText}
