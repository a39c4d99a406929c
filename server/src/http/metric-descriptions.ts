/** Type, help text and labels of a metric of `/metrics`. */
export interface MetricDescription {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Help text of the Prometheus exposition: one line, with the unit where the name has none. */
  readonly help: string
  readonly labels?: readonly string[]
  /** True for metrics that are absent until their value is known. */
  readonly isOptional?: true
}

type Details = Pick<MetricDescription, 'labels' | 'isOptional'>

const counter = (help: string, details: Details = {}): MetricDescription => ({ type: 'counter', help, ...details })
const gauge = (help: string, details: Details = {}): MetricDescription => ({ type: 'gauge', help, ...details })
const histogram = (help: string, details: Details = {}): MetricDescription => ({ type: 'histogram', help, ...details })

const optional: Details = { isOptional: true }
const quantiles: Details = { labels: ['quantile'], isOptional: true }

/** All metrics that begin with `berth_`. `metrics.ts` exposes no other. */
export const metricDescriptions = {
  berth_http_requests_total: counter('Requests to the API and the front end.', {
    labels: ['method', 'route', 'status'],
  }),
  berth_http_request_seconds: histogram('Duration of requests to the API and the front end.', {
    labels: ['method', 'route', 'status'],
  }),
  berth_engine_up: gauge('1 if the engine answers pings and its event stream is open, else 0.'),
  berth_reconcile_last_run_timestamp_seconds: gauge(
    'Unix time of the end of the last run of the reconciler.',
    optional,
  ),
  berth_reconcile_last_success_timestamp_seconds: gauge(
    'Unix time of the end of the last run of the reconciler without a failure.',
    optional,
  ),
  berth_reconcile_duration_seconds: gauge('Duration of the last run of the reconciler.', optional),
  berth_reconcile_failures_total: counter('Failed tasks of the reconciler.'),
  berth_reconcile_actions_total: counter('Actions of the reconciler on containers.', { labels: ['kind'] }),
  berth_homes_bytes: gauge('Size of all homes at the last measurement.', optional),
  berth_homes_largest_user_bytes: gauge('Size of the homes of the user with the most bytes.', optional),
  berth_homes_full_users: gauge('Users whose homes have reached a disk limit.', optional),
  berth_launches_total: counter('Launches that ended, by result.', { labels: ['result'] }),
  berth_launch_seconds: gauge(
    'Time from the request to the running container, of the last 1,000 successful launches.',
    quantiles,
  ),
  berth_mail_accepted_total: counter('Mails that the mail server accepted.'),
  berth_mail_failed_total: counter('Mails that the mail server did not accept.'),
  berth_mail_links_used_total: counter('Mailed links that were used.'),
  berth_mail_seconds_to_accept: gauge('Time until the mail server accepted a mail, of the last 1,000.', quantiles),
  berth_mail_seconds_to_use: gauge(
    'Time from acceptance of a mail to the use of its link, of the last 1,000.',
    quantiles,
  ),
  berth_mail_last_failure_timestamp_seconds: gauge('Unix time of the last mail that was not accepted.', optional),
  berth_gateway_requests_total: counter('Requests to the gateway.'),
  berth_gateway_refusals_total: counter('Requests that the gateway refused.'),
  berth_gateway_failures_total: counter('Requests that failed in the gateway or at the application.'),
  berth_gateway_connections: gauge('Open connections of clients.'),
  berth_gateway_connections_refused_total: counter(
    'Connections refused at a connection limit because none could be evicted.',
  ),
  berth_gateway_connections_evicted_total: counter('Connections evicted at a connection limit to accept a new one.'),
  berth_gateway_unfinished_head_bytes: gauge('Memory held by unfinished request heads.'),
  berth_gateway_websockets: gauge('Open WebSockets to containers.'),
  berth_gateway_routes: gauge('Routes to containers in the gateway.'),
} satisfies Readonly<Record<string, MetricDescription>>

/** Name of a metric without its labels. */
export type MetricName = keyof typeof metricDescriptions
