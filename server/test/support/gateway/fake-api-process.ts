/**
 * An API process without an API, for tests of what keeps it: forked with its vice as first argument and with a file
 * whose lines say which vice each later one has.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { channelTo } from '@berth/gateway/rpc/rpc-connection.ts'
import { RemoteGateway } from '@berth/gateway/rpc/remote-gateway.ts'
import { protocolVersion } from '@berth/gateway/rpc/rpc-protocol.ts'
import { manyKnown, RecordingControlPlane, someSettings } from './recording-gateway.ts'

const [, , vice, diary = ''] = process.argv
const write = (line: string) => appendFileSync(diary, `${process.pid} ${line}\n`)

if (vice === 'unloadable') process.exit(7)
if (vice === 'slow to load') await sleep(300)
if (vice === 'other version') {
  process.send?.({ call: 'loaded', args: [protocolVersion + 1] })
  await sleep(20_000)
}

const delay = monitorEventLoopDelay({ resolution: 1 })
const gateway = new RemoteGateway(channelTo(process), {
  stop: () => {
    write('stop')
    if (vice !== 'never stops') process.exit(0)
  },
  report: (problem) => write(problem),
})
void gateway.lost.then(() => {
  write('lost')
  process.exit(0)
})
await gateway.awaitStart()
write('start')
if (vice === 'unstartable') process.exit(3)
await gateway.listen('127.0.0.1', 0)
await gateway.serve(someSettings, new RecordingControlPlane())
if (vice === 'knows many') {
  delay.enable()
  await gateway.replace(manyKnown(10_000))
  delay.disable()
  write(`longest turn ${Math.round(delay.max / 1e6)} ms`)
} else await gateway.replace(manyKnown(1))
gateway.ready(`ready ${process.pid}\n`)
if (vice === 'deaf') {
  await sleep(50)
  for (;;) readFileSync('/proc/self/stat')
}
if (vice === 'mortal') {
  await sleep(50)
  process.exit(9)
}
