package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/monitor/armmonitor"
)

var monitorRows = []row{
	{Kind: kind("azure_action_groups", "monitor", "insights", "Microsoft.Insights/actionGroups"),
		read: list(all(armmonitor.NewActionGroupsClient, (*armmonitor.ActionGroupsClient).NewListBySubscriptionIDPager))},
	{Kind: kind("azure_metric_alerts", "monitor", "insights", "Microsoft.Insights/metricAlerts"),
		read: list(all(armmonitor.NewMetricAlertsClient, (*armmonitor.MetricAlertsClient).NewListBySubscriptionPager))},
	{Kind: kind("azure_activity_log_alerts", "monitor", "insights", "Microsoft.Insights/activityLogAlerts"),
		read: list(all(armmonitor.NewActivityLogAlertsClient, (*armmonitor.ActivityLogAlertsClient).NewListBySubscriptionIDPager))},
	{Kind: kind("azure_log_alerts", "monitor", "insights", "Microsoft.Insights/scheduledQueryRules"),
		read: list(all(armmonitor.NewScheduledQueryRulesClient, (*armmonitor.ScheduledQueryRulesClient).NewListBySubscriptionPager))},
	{Kind: kind("azure_autoscale_settings", "monitor", "insights", "Microsoft.Insights/autoscaleSettings"),
		read: list(all(armmonitor.NewAutoscaleSettingsClient, (*armmonitor.AutoscaleSettingsClient).NewListBySubscriptionPager))},
}
