package inventory

import (
	"encoding/json"
	"testing"
)

// TestByPlace: what is written is counted where it is, which need not be where it
// was asked for, and a document says the same as a whole.
func TestByPlace(t *testing.T) {
	sink := onDisk(new(disk))
	for _, a := range []Asset{
		{Account: "111122223333", Region: "us-east-1", Type: "AWS::EC2::VPC", ID: "vpc-1"},
		{Account: "111122223333", Region: "us-east-1", Type: "AWS::EC2::VPC", ID: "vpc-2"},
		{Account: "111122223333", Region: "eu-west-1", Type: "AWS::S3::Bucket", ID: "b"},
		{Account: "444455556666", Region: "eu-west-1", Type: "AWS::EC2::VPC", ID: "vpc-3"},
	} {
		if err := sink.Write(a, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	s := NewDocument(Summary{}, records(Success), sink, nil, nil).Summary
	got, err := json.Marshal(s.ByPlace)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"111122223333":{"eu-west-1":{"AWS::S3::Bucket":1},"us-east-1":{"AWS::EC2::VPC":2}},"444455556666":{"eu-west-1":{"AWS::EC2::VPC":1}}}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if s.Assets != 4 || len(s.ByType) != 2 || s.ByType["AWS::EC2::VPC"] != 3 || s.ByType["AWS::S3::Bucket"] != 1 {
		t.Errorf("%d assets, by type %v", s.Assets, s.ByType)
	}
	s.ByPlace.add("1", "r", "t")
	if places, _ := sink.Counts(); len(places) != 2 {
		t.Error("a change of the document's places is one of the sink's")
	}
}
