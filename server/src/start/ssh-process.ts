import { channelTo, RpcConnection } from '@berth/gateway/rpc/rpc-connection.ts'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { SshServer } from '#/ssh/process/ssh-listener.ts'
import { callTimeout, type SshControl, type SshListener, type SshSettings } from '#/ssh/ssh-protocol.ts'

/**
 * The SSH process. The API process forks it, with `SSH_LISTEN`: what unknown clients send is parsed here, where the store, the
 * keys and the requests of others are not, and a flood or a crash of it costs SSH alone. It ends with the API process.
 */

/** Answers that take longer are late anyway, in ms: a lookup of a key. */
const shortTimeout = 15_000

const rpc = new RpcConnection<{ readonly [K in keyof SshControl]: SshControl[K] }>(channelTo(process), handlers(), {
  report: (problem) => process.stderr.write(`the SSH process: ${problem}\n`),
})
const control: SshControl = {
  mayUse: (name, fingerprint) => rpc.call('mayUse', [name, fingerprint], shortTimeout),
  begin: (client) => rpc.call('begin', [client], shortTimeout),
  open: (session) => rpc.call('open', [session], callTimeout),
  wake: (session) => rpc.call('wake', [session], callTimeout),
  reportUse: (sessions) => void rpc.notify('reportUse', [sessions]),
  end: (session) => void rpc.notify('end', [session]),
  reportFailure: (address, name) => void rpc.notify('reportFailure', [address, name]),
  report: (problem) => void rpc.notify('report', [problem]),
}
const server = new SshServer(control)

// Ctrl-C and a service manager's signals reach it, too; the API process decides when it ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => undefined)
void rpc.lost.then(() => process.exit(0))

function handlers(): SshListener {
  return {
    serve: async (settings) => server.serve(settings, await runtimeOf(settings), settings.sentences),
    endSessions: (sessions, why) => server.endSessions(sessions, why),
    setPaused: (sessions, isPaused) => server.setPaused(sessions, isPaused),
    stop: (why) => server.stop(why),
    counts: () => server.counts(),
  }
}

async function runtimeOf({ engine }: SshSettings): Promise<Pick<Runtime, 'exec'>> {
  if (engine.kind === 'docker') return createDockerRuntime(engine)
  const { createKubernetesRuntime } = await import('#/engines/kubernetes/kubernetes-runtime.ts')
  return createKubernetesRuntime({ ...engine, createsNone: true })
}
