import assert from 'node:assert/strict'
import { test } from 'node:test'
import { channelPair, type ChannelVices } from '@berth/server/test/support/gateway/channel-pair.ts'
import {
  manyKnown,
  RecordingControlPlane,
  RecordingGateway,
  someSettings,
} from '@berth/server/test/support/gateway/recording-gateway.ts'
import { ControlPlaneLost, RemoteControlPlane } from './remote-control-plane.ts'
import { RemoteGateway } from './remote-gateway.ts'
import { protocolVersion } from './rpc-protocol.ts'

/** Both processes' ends, with what each has at home. */
function processes(vices: ChannelVices = {}) {
  const pair = channelPair(vices)
  const home = { gateway: new RecordingGateway(), control: new RecordingControlPlane() }
  const events: string[] = []
  const remoteGateway = new RemoteGateway(pair.near, {
    stop: (isReplaced) => events.push(isReplaced ? 'stop for another' : 'stop'),
    report: (problem) => events.push(problem),
  })
  const remoteControl = new RemoteControlPlane(pair.far, {
    gateway: home.gateway,
    onLoaded: (version) => events.push(`loaded ${version}`),
    onReady: (words) => events.push(`ready ${words}`),
    report: (problem) => events.push(problem),
  })
  return { ...pair, ...home, remoteGateway, remoteControl, events }
}

test('every call of the port arrives as it was said, and its answer comes back', async () => {
  const { gateway, remoteGateway } = processes()
  assert.equal(await remoteGateway.listen('127.0.0.1', 0), 4321)
  await remoteGateway.serve(someSettings, new RecordingControlPlane())
  await remoteGateway.apply([{ kind: 'route-gone', prefix: 'ann-dev' }])
  assert.equal(await remoteGateway.hold('ann-dev', 5000), true)
  assert.equal(await remoteGateway.hold('ann-dev', 5), false)
  assert.deepEqual(await remoteGateway.counts(), { berth_requests_total: 7 })
  assert.deepEqual(gateway.settings, someSettings)
  assert.deepEqual(gateway.calls.slice(2), ['apply 1 route-gone', 'hold ann-dev 5000', 'hold ann-dev 5'])
})

test('a port that is taken is reported in the words of the process that tried', async () => {
  const { gateway, remoteGateway } = processes()
  gateway.refusal = 'port 80 on 127.0.0.1 is taken'
  await assert.rejects(remoteGateway.listen('127.0.0.1', 80), { message: gateway.refusal })
})

test('what the gateway asks is answered by the control plane that serves, in its own process', async () => {
  const { gateway, control, remoteGateway } = processes()
  await remoteGateway.serve(someSettings, control)
  const asked = gateway.control
  assert.deepEqual(await asked?.scopedToken(7, 'ann-dev', '3'), { token: '7 ann-dev 3', expiresAt: 1 })
  await assert.rejects(async () => asked?.scopedToken(0, 'ann-dev', null), { message: 'this user is gone' })
  assert.equal(await asked?.wake('ann-dev'), undefined)
  assert.deepEqual(await asked?.wake('bob-dev'), { reason: 'crashed', exitCode: 3 })
  assert.deepEqual((await asked?.explain('ann-dev'))?.lastLines, ['last words'])
  assert.deepEqual(await asked?.renewSession('s', 7, 'host', 'ann-dev'), ['s 7 host ann-dev'])
  assert.deepEqual(await asked?.enterHost('code', 'ann-dev', ['b']), { browser: 'b', setCookie: [], next: '/code' })
  assert.equal(await asked?.enterHost('code', 'ann-dev', []), undefined)
  assert.equal(await asked?.sessionEnd('four'), 4)
  asked?.reportSessionUses([{ sid: 's', at: 9 }])
  asked?.reportUnreachable('ann-dev')
  asked?.reportActivity([{ prefix: 'ann-dev', at: 5 }])
  asked?.reportVisits([{ prefix: 'ann-dev', userId: 7, at: 5 }])
  asked?.report('it broke')
  assert.deepEqual(await asked?.wake('ann-dev', 'request', 'resume'), { reason: 'asleep', exitCode: null })
  assert.deepEqual(control.told, ['sessions s@9', 'suspect ann-dev', 'used ann-dev@5', 'visits 7@ann-dev', 'it broke'])
})

test('before it serves, a control plane answers nothing', async () => {
  const { remoteControl } = processes()
  await assert.rejects(remoteControl.wake('ann-dev'), /has not begun to serve/)
})

test('10,000 users and routes arrive in one step, in messages of a thousand, and later messages count after them', async () => {
  const { gateway, remoteGateway, sent } = processes({ slow: 1 })
  const known = manyKnown(10_000)
  const replaced = remoteGateway.replace(known)
  const applied = remoteGateway.apply([{ kind: 'user-gone', userId: 1 }])
  await Promise.all([replaced, applied])
  assert.deepEqual(gateway.known, known)
  assert.deepEqual(gateway.calls, ['replace 10000 people', 'apply 1 user-gone'])
  assert.ok(Math.max(...sent.map((message) => message.length)) < 300_000)
})

test('two states said at once do not mix, and the later one stays', async () => {
  const { gateway, remoteGateway } = processes({ slow: 1 })
  await Promise.all([remoteGateway.replace(manyKnown(3000)), remoteGateway.replace(manyKnown(2))])
  assert.deepEqual(gateway.known, manyKnown(2))
  assert.deepEqual(gateway.calls, ['replace 3000 people', 'replace 2 people'])
})

test('parts of a state that never came to its end are in no later one', async () => {
  const { gateway, remoteGateway, sendFromNear } = processes()
  sendFromNear({ call: 'replacePart', args: [manyKnown(5)] })
  await remoteGateway.replace(manyKnown(2))
  assert.deepEqual(gateway.known, manyKnown(2))
})

test('2,500 changes arrive in order, a thousand at a time', async () => {
  const { gateway, remoteGateway } = processes()
  await remoteGateway.apply(manyKnown(2500).users.map((user) => ({ kind: 'user', user })))
  assert.deepEqual(gateway.calls, ['apply 1000 user', 'apply 1000 user', 'apply 500 user'])
})

test('when the API process is gone, what the gateway asks rejects as ControlPlaneLost, and its problems go to its own log', async () => {
  const { remoteControl, cut, events } = processes({ slow: 100 })
  const waking = remoteControl.wake('ann-dev')
  cut()
  await assert.rejects(waking, ControlPlaneLost)
  await assert.rejects(remoteControl.scopedToken(1, 'ann-dev', null), ControlPlaneLost)
  remoteControl.reportUnreachable('ann-dev')
  remoteControl.reportActivity([{ prefix: 'ann-dev', at: 1 }])
  remoteControl.report('a broken app')
  assert.deepEqual(events, ['a broken app'])
})

test('an API process waits for its start, and can be stopped', async () => {
  const { remoteGateway, remoteControl, events } = processes()
  let isStarted = false
  const started = remoteGateway.awaitStart().then(() => (isStarted = true))
  await remoteControl.ping(1000)
  assert.equal(isStarted, false)
  remoteControl.start()
  await started
  remoteGateway.ready('Berth is ready')
  remoteControl.stop()
  await remoteControl.ping(1000)
  assert.deepEqual(events, [`loaded ${protocolVersion}`, 'ready Berth is ready', 'stop'])
})
