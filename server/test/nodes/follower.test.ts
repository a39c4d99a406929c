import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { Follower } from '#/nodes/follower.ts'
import { createLinkListener, listenForNodes } from '#/nodes/node-link.ts'
import type { Reading } from '#/nodes/reading.ts'
import { RemoteGateway } from '@berth/gateway/rpc/remote-gateway.ts'
import { channelOver } from '@berth/gateway/rpc/rpc-connection.ts'
import type { ControlPlane } from '@berth/gateway/port/gateway.ts'
import { RecordingGateway, someSettings } from '#test/support/gateway/recording-gateway.ts'
import { freePort } from '../support/free-port.ts'
import { waitFor } from '../support/program.ts'

/** A follower whose database answers when the test says so, and the leaders that it has joined. */
async function scene(t: TestContext) {
  const key = randomBytes(32)
  const leaders: { gateway: RemoteGateway; socket: TLSSocket }[] = []
  const listener = createLinkListener(key, (_, socket) => {
    t.after(() => socket.destroy())
    const gateway = new RemoteGateway(channelOver(socket), { stop: () => undefined, report: () => undefined })
    leaders.push({ gateway, socket: socket.resume() })
  })
  const address = { host: '127.0.0.1', port: await freePort() }
  await listenForNodes(listener, address, () => undefined)
  t.after(() => listener.close())
  const reads: ((reader?: object) => void)[] = []
  const reading = {
    serve: () => new Promise<object | undefined>((resolve) => reads.push(resolve)),
    apply: () => undefined,
    watch: (control: ControlPlane) => control,
  } as unknown as Reading
  const gateway = new RecordingGateway()
  const follower = new Follower({
    node: 'a:1',
    key,
    gateway,
    own: { platformSocket: '', trustedProxies: [] },
    reading,
    onJoined: () => undefined,
    onLost: () => undefined,
    onUnreached: () => undefined,
    report: () => undefined,
  })
  t.after(() => follower.stop())
  /** @returns the leader of this epoch, whose settings are being taken */
  const followed = async (epoch: number): Promise<RemoteGateway> => {
    follower.follow({ node: `${address.host}:${address.port}`, epoch })
    await waitFor(`leader ${epoch}`, () => leaders.length === epoch)
    const leader = leaders[epoch - 1]?.gateway ?? assert.fail()
    leader.serve({ ...someSettings, firstType: `of ${epoch}` }, {} as ControlPlane).catch(() => undefined)
    await waitFor(`its settings`, () => reads.length === epoch)
    return leader
  }
  return { gateway, reads, followed }
}

// The gateway was left with a control plane that was gone, and refused all containers until it joined a leader anew.
test('settings of an earlier leader that a follower is slow to take do not replace those of the next one', async (t) => {
  const { gateway, reads, followed } = await scene(t)
  await followed(1)
  await followed(2)
  reads[1]?.({ socket: '', paths: ['/of 2'] })
  await waitFor('the settings of the second leader', () => gateway.settings?.reader !== undefined)
  reads[0]?.({ socket: '', paths: ['/of 1'] })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([gateway.settings?.firstType, gateway.settings?.reader?.paths], ['of 2', ['/of 2']])
})

// Types and keys that only the newer ones had were gone until the next reload.
test('settings that a slow database holds back do not replace those of a reload', async (t) => {
  const { gateway, reads, followed } = await scene(t)
  const leader = await followed(1)
  leader.serve({ ...someSettings, firstType: 'reloaded' }, {} as ControlPlane).catch(() => undefined)
  await waitFor('the settings of the reload', () => reads.length === 2)
  reads[1]?.({ socket: '', paths: ['/reloaded'] })
  await waitFor('them in force', () => gateway.settings?.reader !== undefined)
  reads[0]?.({ socket: '', paths: ['/of 1'] })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([gateway.settings?.firstType, gateway.settings?.reader?.paths], ['reloaded', ['/reloaded']])
})

// Its gateway had the old settings until the database had answered, and lost routes of types that the new ones brought back.
test('a route that follows settings reaches the gateway of a follower behind them, however slow its database is', async (t) => {
  const { gateway, reads, followed } = await scene(t)
  const leader = await followed(1)
  await leader.apply([{ kind: 'route-gone', prefix: 'ann-lab' }])
  assert.deepEqual(gateway.calls, ['serve', 'apply 1 route-gone'])
  reads[0]?.()
})
