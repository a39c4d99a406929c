import { metricDescriptions, type MetricDescription } from '#/http/metric-descriptions.ts'
import { code, page, table } from './markdown.ts'

const introduction = `\`GET /metrics\` answers in the Prometheus text format; the text is at most one second old. Who may read it, and which metrics to alert on: see [monitor Berth](../how-to/monitor.md). Counters count from the start of the process that owns them: \`berth_gateway_\` from the start of the gateway process, all others from the start of the API process. The default metrics of prom-client about the API process (\`process_\`, \`nodejs_\`) are included.

A metric marked * is absent until its value is known. A histogram has the usual series \`_bucket\`, \`_sum\` and \`_count\`.`

/** docs/reference/metrics.md */
export function metricsPage(): string {
  const rows = Object.entries<MetricDescription>(metricDescriptions).map(
    ([name, { type, help, labels, isOptional }]) => [
      isOptional ? `${code(name)} *` : code(name),
      type,
      labels?.map(code).join(', ') ?? '',
      help,
    ],
  )
  return page(
    'Metrics',
    'server/src/http/metric-descriptions.ts',
    introduction,
    table(['metric', 'type', 'labels', 'meaning'], rows),
  )
}
