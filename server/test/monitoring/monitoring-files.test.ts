import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { metricDescriptions, type MetricDescription } from '#/http/metric-descriptions.ts'
import { dashboard } from '../../reference/dashboard/dashboard.ts'
import { alertExpressions, dashboardExpressions, folder } from './expressions.ts'

/** Dashboard and alert rules without a Prometheus; `npm run test:monitoring` evaluates them in a real one. */

const descriptions: Readonly<Record<string, MetricDescription>> = metricDescriptions
const guide = readFileSync(path.join(folder, '../../docs/how-to/monitor.md'), 'utf8')
const expressions = [...dashboardExpressions(), ...alertExpressions()]

/** Names of the series that `/metrics` has of a metric. */
const seriesOf = ([name, { type }]: [string, MetricDescription]) =>
  type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name]

test('every expression of the dashboard and the alerts names only metrics and labels that Berth has', () => {
  assert.ok(expressions.length > 60, `${expressions.length} expressions`)
  const known = new Set(Object.entries(descriptions).flatMap(seriesOf))
  const labels = new Set(Object.values(descriptions).flatMap((each) => each.labels ?? []))
  const named = expressions.flatMap(({ expr }) => expr.match(/\bberth_\w+/g) ?? [])
  assert.deepEqual(
    [...new Set(named)].filter((name) => !known.has(name)),
    [],
  )
  const selected = expressions.flatMap(({ expr }) => [...expr.matchAll(/[{,](\w+)(?:=~|!~|!=|=)"/g)])
  assert.deepEqual(
    selected.map(([, label = '']) => label).filter((label) => !labels.has(label) && label !== 'job'),
    [],
  )
})

test('every metric is on the dashboard or in an alert, or is one that is looked up by hand', () => {
  const byHand = [
    'berth_gateway_unfinished_head_bytes',
    'berth_gateway_start_time_seconds',
    'berth_homes_full_users',
    'berth_spans_dropped_total',
  ]
  const all = expressions.map(({ expr }) => expr).join('\n')
  const unused = Object.keys(descriptions).filter((name) => !new RegExp(`\\b${name}(_bucket)?\\b`).test(all))
  assert.deepEqual(
    unused.sort(),
    [...byHand, 'berth_mail_last_failure_timestamp_seconds', 'berth_reconcile_last_run_timestamp_seconds'].sort(),
  )
})

test('the guide says of every alert what to do, and of no other', () => {
  const headings = [...guide.matchAll(/^\| `(Berth\w+)` \|/gm)].map(([, name]) => name)
  assert.deepEqual(
    headings.sort(),
    alertExpressions()
      .map(({ where }) => where)
      .sort(),
  )
})

test('the dashboard is what the code says: "npm run docs:reference" writes it', () => {
  assert.equal(readFileSync(path.join(folder, 'grafana-dashboard.json'), 'utf8'), dashboard())
})
