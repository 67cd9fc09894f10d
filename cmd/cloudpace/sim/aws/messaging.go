package aws

import (
	"net/http"
	"path"
	"strconv"
	"strings"
)

var sqsOperations = map[string]*operation{
	"ListQueues": {
		kind: queue, set: "QueueUrls",
		// Without MaxResults the list ends at a thousand, and no token says so.
		pages: &pages{size: "MaxResults", token: "NextToken", next: "NextToken", usual: 1000, least: 1, most: 1000},
		each:  func(x *context, i int) any { return x.queueURL(i) },
	},
	"GetQueueAttributes": {item: "QueueUrl", once: func(x *context) (object, *problem) {
		i, no := x.queue()
		if no != nil {
			return nil, no
		}
		born := strconv.FormatInt(x.born(queue, i).Unix(), 10)
		return fields("Attributes", fields(
			"QueueArn", x.arn("sqs", x.place.Region, x.id(queue, i)), "ApproximateNumberOfMessages", strconv.FormatUint(x.draw(queue, i, "messages")%50, 10),
			"ApproximateNumberOfMessagesNotVisible", "0", "ApproximateNumberOfMessagesDelayed", "0", "CreatedTimestamp", born, "LastModifiedTimestamp", born,
			"VisibilityTimeout", "30", "MaximumMessageSize", "1048576", "MessageRetentionPeriod", "345600", "DelaySeconds", "0",
			"ReceiveMessageWaitTimeSeconds", "0", "SqsManagedSseEnabled", "true",
		)), nil
	}},
	"ListQueueTags": {item: "QueueUrl", once: func(x *context) (object, *problem) {
		i, no := x.queue()
		if no != nil {
			return nil, no
		}
		return fields("Tags", tagMap(x.tagsOf(queue, i))), nil
	}},
}

// queueURL has the host that the client knows the server by.
func (x *context) queueURL(i int) string {
	return "http://" + x.host + "/" + x.place.Account + "/" + x.id(queue, i)
}

func (x *context) queue() (int, *problem) {
	url := x.param("QueueUrl")
	i, ok := find(x.estate, x.place, queue, path.Base(url))
	if !ok {
		return 0, &problem{http.StatusBadRequest, "QueueDoesNotExist", "The specified queue does not exist."}
	}
	return i, nil
}

var snsOperations = map[string]*operation{
	"ListTopics": {
		kind: topic, set: "Topics", of: "member",
		pages: &pages{token: "NextToken", next: "NextToken", usual: 100},
		each:  func(x *context, i int) any { return fields("TopicArn", x.topicARN(i)) },
	},
	"ListTagsForResource": {item: "ResourceArn", once: func(x *context) (object, *problem) {
		i, no := x.topic("ResourceArn")
		if no != nil {
			return nil, no
		}
		return fields("Tags", x.tagList("member", "Key", "Value", x.tagsOf(topic, i))), nil
	}},
	"GetTopicAttributes": {item: "TopicArn", once: func(x *context) (object, *problem) {
		i, no := x.topic("TopicArn")
		if no != nil {
			return nil, no
		}
		entry := func(k, v string) any { return fields("key", k, "value", v) }
		return fields("Attributes", list{"entry", []any{
			entry("TopicArn", x.topicARN(i)), entry("Owner", x.place.Account), entry("DisplayName", ""), entry("SubscriptionsConfirmed", "1"),
		}}), nil
	}},
}

func (x *context) topicARN(i int) string { return x.arn("sns", x.place.Region, x.id(topic, i)) }

func (x *context) topic(param string) (int, *problem) {
	arn := x.param(param)
	i, ok := find(x.estate, x.place, topic, arn[strings.LastIndexByte(arn, ':')+1:])
	if !ok || x.topicARN(i) != arn {
		return 0, &problem{http.StatusNotFound, "NotFound", "Topic does not exist"}
	}
	return i, nil
}
