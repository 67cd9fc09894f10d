// Package paceaws puts every AWS API call of aws-sdk-go-v2 under a cloudpace
// governor: it is paced, its slot is counted, an open circuit refuses it, its
// retries are paid for, and what was lost is remembered.
//
//	cfg, err := config.LoadDefaultConfig(ctx)
//	…
//	if err := paceaws.Install(&cfg, paceaws.Account("111122223333")); err != nil { … }
//	client := ec2.NewFromConfig(cfg) // governed, with its paginators and waiters
//
// # How a call goes
//
// Install adds one API option and a retryer to the config. The option puts two
// hooks around the SDK's retry loop. The call hook stands before the loop: it
// asks the governor once per API call (open circuit, token, slot) and reports
// the end. The attempt hook stands inside the loop and before everything else
// in it, so before the credentials are looked up and before the request is
// signed: a wait never ages a signature. The retryer is the SDK's own with its
// client-side quota taken out; it is asked exactly when the SDK has decided to
// retry, and there the governor's retry budget pays, or ends the loop.
//
// So the SDK decides what is repeated and how long it backs off, and the
// governor decides whether and when a request may leave. Neither knows of the
// other's numbers.
//
// # What callers get
//
// Errors of calls that were sent are the SDK's, unchanged. Where cloudpace ends
// a call, errors.As finds the *cloudpace.CircuitOpenError,
// *cloudpace.RetryBudgetExhaustedError or *cloudpace.DeadlineExceededError, the
// provider's error inside it, and a smithy.APIError with the code "Throttling",
// so handlers written before cloudpace keep working.
//
// Importing the package also teaches the verdict package to read the SDK's
// errors, whether they come from governed clients or not; the body of an error
// answer that is no AWS document ("Rate exceeded" as plain text or in an HTML
// page) is kept for it by governed clients only.
//
// A success that tells of a throttle inside (a progress event of Cloud Control, an
// object that S3 did not delete) stays the caller's success and is not repeated;
// it slows the scope.
//
// # What stays the SDK's
//
// Time limits of calls, credentials, endpoints, signing and presigning.
// Presigning sends nothing and takes nothing. Calls to the instance metadata
// service are not governed, and neither is anything while the governor or its
// provider "aws" is disabled: then the SDK retries as it would have done alone.
//
// Two things differ for a client whose config had no Retryer: services that
// tune their default retryer (DynamoDB begins its back-off at 25 ms) get the
// SDK's common one, and a Retryer set on the client itself is bounded by
// aws.max_retries unless the client also sets RetryMaxAttempts. Operations that
// the SDK marks as long polling (SQS ReceiveMessage) sleep one back-off before they
// return the error of an empty budget, as they do for the SDK's own quota.
package paceaws
