import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { Follower } from '#/nodes/follower.ts'
import { createLinkListener, listenForNodes } from '#/nodes/link/node-link.ts'
import type { Reading } from '#/nodes/reading/reading.ts'
import { RemoteGateway } from '#/rpc/remote-gateway.ts'
import { channelOver } from '#/rpc/socket-channel.ts'
import type { ControlPlane } from '#/gateway/gateway.ts'
import { RecordingGateway, someSettings } from '#test/support/gateway/recording-gateway.ts'
import { freePort } from '../support/free-port.ts'
import { waitFor } from '../support/program.ts'

// The gateway was left with a control plane that was gone, and refused all containers until it joined a leader anew.
test('settings of an earlier leader that a follower is slow to take do not replace those of the next one', async (t) => {
  const key = randomBytes(32)
  const leaders: { gateway: RemoteGateway; socket: TLSSocket }[] = []
  const listener = createLinkListener(key, (_, socket) => {
    t.after(() => socket.destroy())
    const gateway = new RemoteGateway(channelOver(socket), { stop: () => undefined, report: () => undefined })
    leaders.push({ gateway, socket: socket.resume() })
  })
  const address = { host: '127.0.0.1', port: await freePort() }
  await listenForNodes(listener, address)
  t.after(() => listener.close())
  const reads: (() => void)[] = []
  const reading = {
    serve: () => new Promise<void>((resolve) => reads.push(resolve)),
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
  const followed = async (epoch: number) => {
    follower.follow({ node: `${address.host}:${address.port}`, epoch })
    await waitFor(`leader ${epoch}`, () => leaders.length === epoch)
    const served = leaders[epoch - 1]?.gateway.serve({ ...someSettings, firstType: `of ${epoch}` }, {} as ControlPlane)
    served?.catch(() => undefined)
    await waitFor(`its settings`, () => reads.length === epoch)
  }
  await followed(1)
  await followed(2)
  reads[1]?.()
  await waitFor('the settings of the second leader', () => gateway.settings?.firstType === 'of 2')
  reads[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(gateway.settings?.firstType, 'of 2')
})
