// Part of npm run test:more: it samples what `gateway/authorization.test.ts` states.
// Needs a process of its own: it takes the time of ten others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayChange } from '@berth/gateway/port/gateway.ts'
import { createNetGateway } from '@berth/gateway/net-gateway.ts'
import { extent, onlyLong, slowness } from '#test/support/extent.ts'
import { History } from './history.ts'
import { runOracle, type OracleFindings } from './oracle.ts'
import { addressKeepingGateway, holdlessGateway, lateGateway, PoolingGateway } from './faulty-gateways.ts'

const short = { seed: 7, requests: 5_000, clients: 50, changesPerSecond: 500 }
const requests = extent(5_000, 50_000)
/** On a slow machine fewer, so that as many fall into each request; `test:long` holds the figure itself. */
const changesPerSecond = extent(500 / slowness, 500)
const isShare = ({ kind }: GatewayChange) => kind === 'shares' || kind === 'share-group'
const among = ({ wrong }: OracleFindings, what: RegExp) => wrong.some((one) => what.test(one))

for (const [routing, count] of [
  ['path', requests],
  ['subdomain', extent(2_500, 50_000)],
] as const)
  test(`${routing} routing: ${count} requests of 200 clients under 500 changes a second reach no app but their own, or one that is shared with them`, async (t) => {
    const gateway = createNetGateway()
    t.after(() => gateway.close(0))
    const found = await runOracle(gateway, {
      seed: 20_251_121,
      requests: count,
      clients: 200,
      changesPerSecond,
      routing,
    })
    const { wrong, answered, messages, visits, ofPorts, inside, changes, took } = found
    assert.deepEqual(wrong.slice(0, 10), [])
    t.diagnostic(JSON.stringify({ ...found, wrong: wrong.length }))
    // Of these four less on a busy machine, where more changes fall into each request.
    assert.ok(answered > count / extent(10, 2), `only ${answered} answers came from apps`)
    assert.ok(messages > count / extent(1_000, 250), `only ${messages} messages on WebSockets`)
    assert.ok(visits > count / extent(200, 50), `only ${visits} answers to visitors`)
    assert.ok(ofPorts > count / extent(200, 50), `only ${ofPorts} answers came from further ports`)
    assert.ok(inside > count / extent(400, 100), `only ${inside} answers came from loopback`)
    assert.ok(changes > (took / 1_000) * extent(changesPerSecond / 5, 400), `only ${changes} changes in ${took} ms`)
    const { recreated, taken, stoppedForHome, pausedForHome } = found
    assert.ok(recreated > changes / 50 && taken > recreated / 4, `${recreated} created anew, ${taken} addresses reused`)
    assert.ok(stoppedForHome > changes / 100 && pausedForHome > changes / 200, `${stoppedForHome} and ${pausedForHome}`)
  })

test('the oracle notices a gateway that takes changes in too late', onlyLong, async (t) => {
  const gateway = createNetGateway()
  t.after(() => gateway.close(0))
  const found = await runOracle(lateGateway(gateway, 30), short)
  assert.ok(among(found, /an app that was gone/), JSON.stringify(found))
})

test('the oracle notices visitors who pass after their share was withdrawn', onlyLong, async (t) => {
  const gateway = createNetGateway()
  t.after(() => gateway.close(0))
  const found = await runOracle(lateGateway(gateway, 300, isShare), { ...short, requests: 20_000 })
  assert.ok(among(found, /passed with/), JSON.stringify(found))
  assert.ok(!among(found, /an app that was gone/))
})

test('the oracle notices connections kept for an address, and callers that are not checked', onlyLong, async (t) => {
  const gateway = new PoolingGateway()
  t.after(() => gateway.close())
  const found = await runOracle(gateway, short)
  assert.ok(among(found, /another prefix's app/), JSON.stringify(found))
  assert.ok(among(found, /passed/))
})

test('the oracle notices a gateway that keeps the address of a container that was created anew', async (t) => {
  const gateway = createNetGateway()
  t.after(() => gateway.close(0))
  const found = await runOracle(addressKeepingGateway(gateway), { ...short, requests: 20_000 })
  assert.ok(among(found, /another prefix's app/), JSON.stringify(found))
  assert.ok(among(found, /an app that was gone/), JSON.stringify(found))
})

for (const what of ['stopped', 'paused'] as const)
  test(`the oracle notices requests to a container that is ${what} while its home is read`, onlyLong, async (t) => {
    const gateway = createNetGateway()
    t.after(() => gateway.close(0))
    const found = await runOracle(holdlessGateway(gateway, what), { ...short, requests: 20_000 })
    assert.ok(among(found, /an app that was gone/), JSON.stringify(found))
  })

test('while a change is delivered both apps are right, before and after it only one', () => {
  const history = new History()
  history.begin('p', 'one')
  history.settle('p')
  const before = history.tick()
  history.begin('p', 'two')
  const during = history.tick()
  history.settle('p')
  const after = history.tick()
  assert.ok(history.wasRight('p', 'one', before, before) && history.wasRight('p', 'one', during, during))
  assert.ok(history.wasRight('p', 'two', during, during) && history.wasRight('p', 'two', after, after))
  assert.ok(!history.wasRight('p', 'two', before, before) && !history.wasRight('p', 'one', after, after))
  assert.ok(history.wasRight('p', 'one', before, after), 'a request that takes long may have either')
})
