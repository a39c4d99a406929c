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
const ofNodes: Details = { isOptional: true, labels: ['node'] }

/** All metrics that begin with `berth_`. `metrics.ts` exposes no other. */
export const metricDescriptions = {
  berth_http_requests_total: counter('Requests to the API and the front end.', {
    labels: ['method', 'route', 'status'],
  }),
  berth_http_request_seconds: histogram('Duration of requests to the API and the front end.', {
    labels: ['method', 'route', 'status'],
  }),
  berth_http_requests_in_progress: gauge('Requests to the API and the front end in progress, event streams included.'),
  berth_engine_up: gauge('1 if the engine answers pings and its event stream is open, else 0.'),
  berth_engine_request_seconds: histogram(
    'Duration of calls to the engine, by operation; of a stream until its beginning.',
    { labels: ['operation'] },
  ),
  berth_engine_requests_total: counter(
    'Calls to the engine. `refused`: it answered with an error; `unreachable`: no answer, or none in time; `cancelled`: by Berth.',
    { labels: ['operation', 'result'] },
  ),
  berth_engine_requests_in_progress: gauge('Connections to the engine in use.', { labels: ['kind'] }),
  berth_engine_requests_in_progress_max: gauge('Max connections to the engine; further calls wait.', {
    labels: ['kind'],
  }),
  berth_reconcile_last_run_timestamp_seconds: gauge(
    'Unix time of the end of the last run of the reconciler.',
    optional,
  ),
  berth_reconcile_last_success_timestamp_seconds: gauge(
    'Unix time of the end of the last run of the reconciler without a failure.',
    optional,
  ),
  berth_reconcile_duration_seconds: gauge('Duration of the last run of the reconciler.', optional),
  berth_reconcile_runs_total: counter('Runs of the reconciler, by result.', { labels: ['result'] }),
  berth_reconcile_failures_total: counter('Failed tasks of the reconciler.'),
  berth_reconcile_actions_total: counter('Actions of the reconciler on containers.', { labels: ['kind'] }),
  berth_homes_bytes: gauge(
    'Size of all homes at the last measurement, which is made where a setting, a template or a group limits disk use, or `MEASURE_USAGE` is set.',
    optional,
  ),
  berth_homes_largest_user_bytes: gauge('Size of the homes of the user with the most bytes.', optional),
  berth_homes_full_users: gauge('Users whose homes have reached a disk limit.', optional),
  berth_launches_total: counter('Launches that ended, by result.', { labels: ['result'] }),
  berth_launch_seconds: histogram('Time from the request to the running container, of successful launches.'),
  berth_launches_waiting: gauge('Launches that wait for a slot of the queue.'),
  berth_launches_in_progress: gauge('Launches that the engine works on.'),
  berth_launches_in_progress_max: gauge('Max launches that the engine works on at the same time (`LAUNCH_PARALLEL`).'),
  berth_containers_running: gauge('Containers that run or are paused.'),
  berth_containers_running_max: gauge('`MAX_RUNNING`; absent without it.', optional),
  berth_gpus_in_use_max: gauge('GPUs in `GPU_IDS`; absent without it.', optional),
  berth_gpus_in_use: gauge('GPUs of containers that run, are paused or are being launched.', optional),
  berth_launches_waiting_for_gpus: gauge('Launches that wait for GPUs.', optional),
  berth_host_memory_bytes: gauge('Memory of the host.', optional),
  berth_host_memory_available_bytes: gauge('Available memory of the host.', optional),
  berth_host_disk_bytes: gauge("Size of the file system of the engine's data.", optional),
  berth_host_disk_free_bytes: gauge("Free bytes of the file system of the engine's data.", optional),
  berth_host_addresses_left: gauge("Free addresses on the networks of Berth's containers.", optional),
  berth_mail_accepted_total: counter('Mails that the mail server accepted.'),
  berth_mail_failed_total: counter('Mails that the mail server did not accept.'),
  berth_mail_links_used_total: counter('Mailed links that were used.'),
  berth_mails_in_progress: gauge('Mails that the mail server has neither accepted nor refused yet.'),
  berth_mail_seconds_to_accept: histogram('Time until the mail server accepted a mail.'),
  berth_mail_seconds_to_use: histogram('Time from acceptance of a mail to the use of its link.'),
  berth_mail_last_failure_timestamp_seconds: gauge('Unix time of the last mail that was not accepted.', optional),
  berth_audit_webhook_sent_total: counter('Entries of the audit log that the webhook accepted.', optional),
  berth_audit_webhook_failures_total: counter('Failed attempts to deliver an entry of the audit log.', optional),
  berth_audit_webhook_waiting: gauge('Entries of the audit log that the webhook has not accepted yet.', optional),
  berth_audit_webhook_lag_seconds: gauge('Age of the oldest of them; 0 if there is none.', optional),
  berth_ssh_sessions: gauge('Open sessions of SSH.', optional),
  berth_ssh_unproven_connections: gauge('Connections of SSH whose client has not proved who it is yet.', optional),
  berth_ssh_sessions_total: counter('Sessions of SSH that began.', optional),
  berth_ssh_failures_total: counter('Clients of SSH that left without having proved a key.', optional),
  berth_ssh_refused_connections_total: counter(
    'Connections of SSH that were closed at once, because there were too many without proof.',
    optional,
  ),
  berth_gateway_requests_total: counter('Requests to the gateway.'),
  berth_gateway_refusals_total: counter('Requests that the gateway refused.'),
  berth_gateway_failures_total: counter('Requests that failed in the gateway or at the application.'),
  berth_gateway_responses_total: counter(
    'Answers by class of status (`2xx`) and source: a container (`app`), the API process, or the gateway itself.',
    { labels: ['source', 'code'] },
  ),
  berth_gateway_response_seconds: histogram(
    'Time from a request to the head of its answer, by source; the wake of a container is included.',
    { labels: ['source'] },
  ),
  berth_gateway_event_loop_busy_seconds_total: counter(
    'Time in which the event loop of the gateway process was busy: a rate near 1 is saturation.',
  ),
  berth_gateway_cpu_seconds_total: counter('CPU time of the gateway process.'),
  berth_gateway_resident_memory_bytes: gauge('Resident memory of the gateway process.'),
  berth_gateway_start_time_seconds: gauge('Unix time of the start of the gateway process.'),
  berth_gateway_connections: gauge('Open connections of clients.'),
  berth_gateway_connections_max: gauge('Max open connections of clients, from the limit of open files.'),
  berth_gateway_connections_refused_total: counter(
    'Connections refused at a connection limit because none could be evicted.',
  ),
  berth_gateway_connections_evicted_total: counter('Connections evicted at a connection limit to accept a new one.'),
  berth_gateway_access_log_dropped_total: counter(
    'Lines of the access log that were dropped, because they could not be written as fast as they came.',
    optional,
  ),
  berth_spans_dropped_total: counter('Spans of traces that were dropped, because the receiver did not take them.', {
    ...optional,
    labels: ['process'],
  }),
  berth_gateway_unfinished_head_bytes: gauge('Memory held by unfinished request heads.'),
  berth_gateway_websockets: gauge('Open WebSockets to containers.'),
  berth_gateway_routes: gauge('Routes to containers in the gateway.'),
  berth_node_alive: gauge(
    '1 if a heartbeat of the node was seen in the last 20 s, else 0; with several nodes.',
    ofNodes,
  ),
  berth_node_current: gauge('1 if the gateway of the node serves containers by the present state, else 0.', ofNodes),
  berth_node_leads: gauge('1 for the node that leads, else 0.', ofNodes),
  berth_reads_total: counter('Requests that a node which follows answered by itself.', ofNodes),
  berth_reads_passed_on_total: counter(
    'Requests of the same kinds that it passed on to the leader, such as those that are refused, or renew a session.',
    ofNodes,
  ),
  berth_leader_epoch: gauge('Goes up by one each time that a node begins to lead.', optional),
} satisfies Readonly<Record<string, MetricDescription>>
