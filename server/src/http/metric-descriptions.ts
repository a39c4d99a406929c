/** Type, help text and labels of a metric of `/metrics`. */
export interface MetricDescription {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Help text of the Prometheus exposition: one line, with the unit where the name has none. */
  readonly help: string
  readonly labels?: readonly string[]
  /** True for metrics that are absent until their value is known. */
  readonly isOptional?: true
}

const quantile = ['quantile'] as const

/** All metrics that begin with `berth_`. `metrics.ts` exposes no other. */
export const metricDescriptions = {
  berth_http_requests_total: {
    type: 'counter',
    help: 'Requests to the API and the front end.',
    labels: ['method', 'route', 'status'],
  },
  berth_http_request_seconds: {
    type: 'histogram',
    help: 'Duration of requests to the API and the front end.',
    labels: ['method', 'route', 'status'],
  },
  berth_engine_up: { type: 'gauge', help: '1 if the engine answers pings and its event stream is open, else 0.' },
  berth_reconcile_last_run_timestamp_seconds: {
    type: 'gauge',
    help: 'Unix time of the end of the last run of the reconciler.',
    isOptional: true,
  },
  berth_reconcile_last_success_timestamp_seconds: {
    type: 'gauge',
    help: 'Unix time of the end of the last run of the reconciler without a failure.',
    isOptional: true,
  },
  berth_reconcile_duration_seconds: {
    type: 'gauge',
    help: 'Duration of the last run of the reconciler.',
    isOptional: true,
  },
  berth_reconcile_failures_total: { type: 'counter', help: 'Failed tasks of the reconciler.' },
  berth_reconcile_actions_total: {
    type: 'counter',
    help: 'Actions of the reconciler on containers.',
    labels: ['kind'],
  },
  berth_homes_bytes: { type: 'gauge', help: 'Size of all homes at the last measurement.', isOptional: true },
  berth_homes_largest_user_bytes: {
    type: 'gauge',
    help: 'Size of the homes of the user with the most bytes.',
    isOptional: true,
  },
  berth_homes_full_users: { type: 'gauge', help: 'Users whose homes have reached a disk limit.', isOptional: true },
  berth_launches_total: { type: 'counter', help: 'Launches that ended, by result.', labels: ['result'] },
  berth_launch_seconds: {
    type: 'gauge',
    help: 'Time from the request to the running container, of the last 1,000 successful launches.',
    labels: quantile,
    isOptional: true,
  },
  berth_mail_accepted_total: { type: 'counter', help: 'Mails that the mail server accepted.' },
  berth_mail_failed_total: { type: 'counter', help: 'Mails that the mail server did not accept.' },
  berth_mail_links_used_total: { type: 'counter', help: 'Mailed links that were used.' },
  berth_mail_seconds_to_accept: {
    type: 'gauge',
    help: 'Time until the mail server accepted a mail, of the last 1,000.',
    labels: quantile,
    isOptional: true,
  },
  berth_mail_seconds_to_use: {
    type: 'gauge',
    help: 'Time from acceptance of a mail to the use of its link, of the last 1,000.',
    labels: quantile,
    isOptional: true,
  },
  berth_mail_last_failure_timestamp_seconds: {
    type: 'gauge',
    help: 'Unix time of the last mail that was not accepted.',
    isOptional: true,
  },
  berth_gateway_requests_total: { type: 'counter', help: 'Requests to the gateway.' },
  berth_gateway_refusals_total: { type: 'counter', help: 'Requests that the gateway refused.' },
  berth_gateway_failures_total: { type: 'counter', help: 'Requests that failed in the gateway or at the application.' },
  berth_gateway_connections: { type: 'gauge', help: 'Open connections of clients.' },
  berth_gateway_connections_refused_total: {
    type: 'counter',
    help: 'Connections refused at a connection limit because none could be evicted.',
  },
  berth_gateway_connections_evicted_total: {
    type: 'counter',
    help: 'Connections evicted at a connection limit to accept a new one.',
  },
  berth_gateway_unfinished_head_bytes: { type: 'gauge', help: 'Memory held by unfinished request heads.' },
  berth_gateway_websockets: { type: 'gauge', help: 'Open WebSockets to containers.' },
  berth_gateway_routes: { type: 'gauge', help: 'Routes to containers in the gateway.' },
} as const satisfies Readonly<Record<string, MetricDescription>>

/** Name of a metric without its labels. */
export type MetricName = keyof typeof metricDescriptions
