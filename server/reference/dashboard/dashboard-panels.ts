/** A plot of the dashboard. */
export interface Panel {
  readonly title: string
  /** As Grafana names it: `s`, `bytes`, `reqps`, `percentunit`, `short`. */
  readonly unit: string
  readonly description: string
  /** Expression of Prometheus, and legend. */
  readonly queries: readonly (readonly [string, string])[]
}

export interface DashboardRow {
  readonly title: string
  readonly panels: readonly Panel[]
}

const panel = (
  title: string,
  unit: string,
  description: string,
  ...queries: readonly (readonly [string, string])[]
): Panel => ({ title, unit, description, queries })

/** Quantiles of a histogram over five minutes, for each value of a label. */
const quantiles = (metric: string, label?: string, only = ''): (readonly [string, string])[] =>
  [0.5, 0.95].map((quantile) => [
    `histogram_quantile(${quantile}, sum by (le${label ? `, ${label}` : ''}) (rate(${metric}_bucket${only}[5m])))`,
    `${label ? `{{${label}}} ` : ''}${quantile === 0.5 ? 'median' : '95 %'}`,
  ])

const rate = (metric: string, by: string, legend: string): readonly [string, string] => [
  `sum by (${by}) (rate(${metric}[5m]))`,
  legend,
]

// Streams last as long as their page is open.
const withoutStreams = '{route!~".*(events|logs).*"}'

/** Rows by subject, each with traffic, latency, errors and saturation. */
export const dashboardRows: readonly DashboardRow[] = [
  {
    title: 'API',
    panels: [
      panel('Requests', 'reqps', 'Traffic by status.', rate('berth_http_requests_total', 'status', '{{status}}')),
      panel(
        'Latency',
        's',
        'Without event streams.',
        ...quantiles('berth_http_request_seconds', undefined, withoutStreams),
      ),
      panel('Share of 5xx', 'percentunit', 'Bugs, and parts that do not answer.', [
        '(sum(rate(berth_http_requests_total{status=~"5.."}[5m])) or vector(0)) / sum(rate(berth_http_requests_total[5m]))',
        'errors',
      ]),
      panel('Slowest routes', 's', 'The 95th percentile.', [
        `topk(8, histogram_quantile(0.95, sum by (le, method, route) (rate(berth_http_request_seconds_bucket${withoutStreams}[5m]))))`,
        '{{method}} {{route}}',
      ]),
      panel(
        'Load of the API process',
        'percentunit',
        'CPU: 1 is one core.',
        ['rate(process_cpu_seconds_total[5m])', 'CPU'],
        ['nodejs_eventloop_lag_p99_seconds', 'event loop lag (99 %), s'],
      ),
      panel('Requests in progress', 'short', 'Event streams included.', [
        'berth_http_requests_in_progress',
        'in progress',
      ]),
    ],
  },
  {
    title: 'Gateway',
    panels: [
      panel(
        'Answers',
        'reqps',
        'By source: a container (app), the API, or the gateway itself.',
        rate('berth_gateway_responses_total', 'source, code', '{{source}} {{code}}'),
      ),
      panel('Latency', 's', 'To the head of the answer.', ...quantiles('berth_gateway_response_seconds', 'source')),
      panel(
        'Failures and refusals',
        'reqps',
        'Failures: applications that do not answer correctly. Refusals: 4xx and 5xx of the gateway itself.',
        ['rate(berth_gateway_failures_total[5m])', 'failures'],
        ['rate(berth_gateway_refusals_total[5m])', 'refusals'],
        ['rate(berth_gateway_connections_refused_total[5m])', 'connections refused'],
        ['rate(berth_gateway_connections_evicted_total[5m])', 'connections evicted'],
        ['rate(berth_gateway_access_log_dropped_total[5m]) or vector(0)', 'lines of the access log dropped'],
      ),
      panel(
        'Connections',
        'short',
        'Open connections of clients, and WebSockets among them.',
        ['berth_gateway_connections', 'connections'],
        ['berth_gateway_websockets', 'WebSockets'],
        ['berth_gateway_connections_max', 'max'],
      ),
      panel(
        'Load of the gateway process',
        'percentunit',
        'Near 1 it is saturated: it has one event loop.',
        ['rate(berth_gateway_event_loop_busy_seconds_total[5m])', 'event loop busy'],
        ['rate(berth_gateway_cpu_seconds_total[5m])', 'CPU'],
      ),
      panel(
        'Memory',
        'bytes',
        'Resident memory of both processes.',
        ['berth_gateway_resident_memory_bytes', 'gateway'],
        ['process_resident_memory_bytes', 'API'],
      ),
    ],
  },
  {
    title: 'Launches and host',
    panels: [
      panel('Launches', 'reqps', 'By result.', rate('berth_launches_total', 'result', '{{result}}')),
      panel('Time to a running container', 's', 'Successful launches.', ...quantiles('berth_launch_seconds')),
      panel(
        'Queue',
        'short',
        'Launches that wait, and those that the engine works on.',
        ['berth_launches_waiting', 'waiting'],
        ['berth_launches_in_progress', 'in progress'],
        ['berth_launches_in_progress_max', 'max in progress'],
      ),
      panel(
        'Containers',
        'short',
        'Running and paused; max is MAX_RUNNING, if it is set.',
        ['berth_containers_running', 'running'],
        ['berth_gateway_routes', 'known'],
        ['berth_containers_running_max or vector(0)', 'max'],
      ),
      panel(
        'GPUs',
        'short',
        'With GPU_IDS: in use, and launches that wait for some.',
        ['berth_gpus_in_use', 'in use'],
        ['berth_gpus_in_use_max', 'all'],
        ['berth_launches_waiting_for_gpus', 'waiting launches'],
      ),
      panel(
        'Host',
        'percentunit',
        'Used share of memory and disk.',
        ['1 - berth_host_memory_available_bytes / berth_host_memory_bytes', 'memory'],
        ['1 - berth_host_disk_free_bytes / berth_host_disk_bytes', 'disk'],
      ),
      panel(
        'Homes',
        'bytes',
        'At the last measurement; measured only with a disk limit.',
        ['berth_homes_bytes', 'all'],
        ['berth_homes_largest_user_bytes', 'largest user'],
      ),
    ],
  },
  {
    title: 'Engine',
    panels: [
      panel('Calls', 'reqps', 'By operation.', rate('berth_engine_requests_total', 'operation', '{{operation}}')),
      panel('Slowest operations', 's', 'The 95th percentile.', [
        'topk(8, histogram_quantile(0.95, sum by (le, operation) (rate(berth_engine_request_seconds_bucket[5m]))))',
        '{{operation}}',
      ]),
      panel('Failed calls', 'reqps', 'Refused, unanswered or cancelled.', [
        'sum by (operation, result) (rate(berth_engine_requests_total{result!="ok"}[5m]))',
        '{{operation}} {{result}}',
      ]),
      panel('Engine reachable', 'short', '1: it answers and sends events.', ['berth_engine_up', 'up']),
      panel('Connections in use', 'percentunit', 'Share of the max of each kind; at 1 further calls wait.', [
        'berth_engine_requests_in_progress / berth_engine_requests_in_progress_max',
        '{{kind}}',
      ]),
    ],
  },
  {
    title: 'Mail',
    panels: [
      panel(
        'Mails',
        'reqps',
        'Accepted and refused by the mail server.',
        ['rate(berth_mail_accepted_total[5m])', 'accepted'],
        ['rate(berth_mail_failed_total[5m])', 'failed'],
        ['rate(berth_mail_links_used_total[5m])', 'links used'],
      ),
      panel('Time to acceptance', 's', 'By the mail server.', ...quantiles('berth_mail_seconds_to_accept')),
      panel(
        'Time to the use of the link',
        's',
        'Delays behind the mail server show here alone.',
        ...quantiles('berth_mail_seconds_to_use'),
      ),
      panel('Mails in progress', 'short', 'Many of them: the mail server is slow.', [
        'berth_mails_in_progress',
        'in progress',
      ]),
    ],
  },
  {
    title: 'Reconciler and audit log',
    panels: [
      panel('Runs', 'reqps', 'By result.', rate('berth_reconcile_runs_total', 'result', '{{result}}')),
      panel(
        'Duration and age',
        's',
        'Duration of the last run, and time since the last one without a failure.',
        ['berth_reconcile_duration_seconds', 'duration'],
        ['time() - berth_reconcile_last_success_timestamp_seconds', 'since the last success'],
      ),
      panel(
        'Audit webhook',
        'short',
        'Entries that wait, and the age of the oldest one in s; 0 without a webhook.',
        ['berth_audit_webhook_waiting or vector(0)', 'waiting'],
        ['berth_audit_webhook_lag_seconds or vector(0)', 'lag (s)'],
        ['(increase(berth_audit_webhook_sent_total[1h]) or vector(0))', 'sent in an hour'],
        ['(increase(berth_audit_webhook_failures_total[1h]) or vector(0))', 'failed attempts in an hour'],
      ),
      panel(
        'Actions and failures',
        'short',
        'In an hour.',
        ['sum by (kind) (increase(berth_reconcile_actions_total[1h]))', '{{kind}}'],
        ['increase(berth_reconcile_failures_total[1h])', 'failures'],
      ),
    ],
  },
  {
    title: 'SSH',
    panels: [
      panel(
        'Sessions of SSH',
        'short',
        'Open, and those that began in an hour; with `SSH_LISTEN`.',
        ['sum(berth_ssh_sessions)', 'open'],
        ['sum(increase(berth_ssh_sessions_total[1h]))', 'begun in an hour'],
      ),
      panel(
        'Clients of SSH that were not let in',
        'short',
        'In an hour: without a key that counts, and beyond the limits of connections.',
        ['sum(increase(berth_ssh_failures_total[1h]))', 'without a key'],
        ['sum(increase(berth_ssh_refused_connections_total[1h]))', 'refused'],
      ),
      panel('Connections of SSH without a proof', 'short', 'Open, of clients that have not proved who they are yet.', [
        'sum(berth_ssh_unproven_connections)',
        'connections',
      ]),
    ],
  },
  {
    title: 'Nodes',
    panels: [
      panel(
        'Nodes',
        'short',
        'Of an installation with `NODE_ADDRESS`: with a heartbeat, and with a gateway that serves containers by the present state.',
        ['sum(max by (node) (berth_node_alive))', 'alive'],
        ['sum(max by (node) (berth_node_current))', 'current'],
      ),
      panel('Which node leads', 'short', '1 for the node that leads.', [
        'max by (node) (berth_node_leads)',
        '{{node}}',
      ]),
      panel('Changes of the leader', 'short', 'In an hour.', ['max(increase(berth_leader_epoch[1h]))', 'changes']),
      panel('Requests by node', 'reqps', 'Of its gateway.', [
        'sum by (node) (rate(berth_gateway_requests_total{node!=""}[5m]))',
        '{{node}}',
      ]),
      panel(
        'Reads at followers',
        'reqps',
        'Requests that a follower answered by itself, and those of the same kinds that it passed on to the leader.',
        ['sum by (node) (rate(berth_reads_total[5m]))', '{{node}}'],
        ['sum by (node) (rate(berth_reads_passed_on_total[5m]))', '{{node}}, passed on'],
      ),
      panel('WebSockets by node', 'short', 'Open through its gateway.', [
        'sum by (node) (berth_gateway_websockets{node!=""})',
        '{{node}}',
      ]),
    ],
  },
]
