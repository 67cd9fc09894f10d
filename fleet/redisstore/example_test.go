package redisstore_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/fleet/redisstore"
)

func ExampleOpen() {
	ctx := context.Background()
	store, err := redisstore.Open(ctx, "rediss://user:password@redis.example.com:6379/0", redisstore.Options{})
	if err != nil {
		fmt.Println(err) // without the password
		return
	}
	defer store.Close()
	status, err := store.Status(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range status.Buckets {
		fmt.Printf("%s: %g a second, shared by %d\n", b.Key, b.RPS, len(b.Active))
	}
}

// A program that has a client already hands it over, and closes it itself.
func ExampleNew() {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"redis-1.example.com:6379", "redis-2.example.com:6379"}})
	defer client.Close()
	var store fleet.Store = redisstore.New(client, redisstore.Options{})
	defer store.Close()
}
