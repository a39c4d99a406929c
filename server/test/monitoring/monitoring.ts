import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startBerth } from '../support/berth.ts'
import { pollUntil } from '../support/control-plane.ts'
import { severalNodes } from '../support/several-nodes.ts'
import { startPostgres } from '../support/store/postgres.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { alertExpressions, dashboardExpressions } from './expressions.ts'
import { promtool, startPrometheus } from './prometheus.ts'

/**
 * `npm run test:monitoring`: the files of deploy/monitoring in Debian's Prometheus, with the metrics of a Berth that has a
 * real engine and a real mail server. Apart from `npm test`, because it needs the package `prometheus`.
 */

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const receiver = await startReceiver({ after }, secret)
const webhook = { AUDIT_WEBHOOK_URL: receiver.url, AUDIT_WEBHOOK_SECRET: secret }
const berth = await startBerth(
  { after },
  { env: { ...webhook, MAX_RUNNING: '20', MAX_DISK_PER_USER: '10g' }, pace: { measureHomes: 2_000 } },
)
/** One of several nodes, which have metrics and alerts of their own; its leader is the node itself. */
const postgres = await startPostgres()
const node = await (await severalNodes({ after }, postgres)).start()
after(() => postgres.stop())
const [, nodeHost = ''] = await node.said(/listening on (\S+?)\)/)
const prometheus = await startPrometheus({ after }, [new URL(berth.url).host, nodeHost])

test('promtool accepts the example configuration and the alert rules', async () => {
  assert.match(await promtool('check', 'rules', 'alerts.yml'), /SUCCESS: \d+ rules found/)
  // The rule file of the example is where the guide says that it is put, not here.
  assert.match(await promtool('check', 'config', '--syntax-only', 'prometheus.yml'), /SUCCESS/)
})

test('promtool: a healthy Berth raises no alert, and each fault raises its own', async () => {
  assert.match(await promtool('test', 'rules', 'alerts.test.yml'), /SUCCESS/)
})

test('with the metrics of a real Berth every expression of the dashboard and the alerts has a result', async () => {
  const scrapes = async () => Number((await prometheus.query('count_over_time(up[10m])'))[0]?.value[1] ?? 0)
  await pollUntil(
    async () => (await scrapes()) > 2,
    () => 'no scrape',
  )
  const ann = await berth.signUp('ann@x.org')
  await pollUntil(
    async () => (await ann.call('GET', `/${ann.slug}-dev/`)).status === 200,
    () => 'no app',
  )
  await pollUntil(
    async () => (await prometheus.query('berth_homes_bytes')).length > 0,
    () => 'homes are not measured',
  )
  const before = await scrapes()
  await ann.call('GET', '/api/user/me')
  await pollUntil(
    async () => (await scrapes()) > before + 2,
    () => 'no further scrape',
  )

  const empty: string[] = []
  for (const { where, expr } of [...dashboardExpressions(), ...alertExpressions().map(asValue)])
    if ((await prometheus.query(expr)).length === 0) empty.push(`${where}: ${expr}`)
  assert.deepEqual(empty, [])
})

test('Prometheus evaluates every rule without an error, and a healthy Berth has no firing alert', async () => {
  interface Rules {
    readonly groups: readonly {
      readonly rules: readonly { readonly name: string; readonly health: string; readonly state: string }[]
    }[]
  }
  const { groups } = await prometheus.get<Rules>('rules')
  const rules = groups.flatMap((group) => group.rules)
  assert.equal(rules.length, alertExpressions().length)
  assert.deepEqual(
    rules.filter(({ health, state }) => health !== 'ok' || state === 'firing'),
    [],
  )
})

/** A comparison has no result while it does not hold; as a value it is 0 or 1. */
const asValue = ({ where, expr }: { where: string; expr: string }) => ({
  where,
  expr: expr.replace(/ ([<>]=?|==) /g, ' $1 bool '),
})
