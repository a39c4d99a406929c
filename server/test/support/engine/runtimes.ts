import { once } from 'node:events'
import { connect } from 'node:net'
import { createDockerRuntime, type DockerRuntimeOptions } from '#/engines/docker/docker-runtime.ts'
import { RuntimeError, type RuntimeErrorKind } from '#/engines/runtime-error.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import type { Lifetime } from '../berth.ts'
import { askEngine, engineAddress, newInstallation, removeInstallation, testImage } from './engine.ts'
import { waitLimit } from '../extent.ts'

/** A real runtime, and hands that reach around it. */
export interface RuntimeRig {
  readonly name: string
  readonly runtime: Runtime
  /** Another installation on the same engine. */
  readonly neighbour: Runtime
  readonly installation: string
  /** What a test wants to have launched; names begin with the installation. */
  spec(name: string, fields?: Partial<ContainerSpec>): ContainerSpec
  /** Creates and starts, and looks. */
  run(name: string, fields?: Partial<ContainerSpec>): Promise<RuntimeContainer>
  pause(id: string): Promise<void>
  stopFromOutside(id: string): Promise<void>
  /** Whether containers are kept from each other: a cluster may accept policies that it does not enforce. */
  readonly isolates: boolean
  /** Whether containers of other installations are seen, though never changed. */
  readonly seesOthers: boolean
  /** Precision of the engine's instants, in ms. */
  readonly precision: number
  /** Takes away whatever both installations made. */
  close(): Promise<void>
}

/**
 * What the contract of the port is held against: the Docker Engine, in test:long also behind the broker of its socket, or the
 * cluster that `npm run test:cluster` names.
 */
export const contractRuntimes: readonly (() => Promise<RuntimeRig>)[] =
  process.env.BERTH_TEST_CLUSTER === undefined
    ? [() => openDockerEngine(), ...(process.env.BERTH_TESTS === 'long' ? [openBehindBroker] : [])]
    : [async () => (await import('../cluster/cluster-rig.ts')).openCluster()]

/** The neighbour has a way of its own: a broker serves one installation. */
async function openBehindBroker(): Promise<RuntimeRig> {
  const { startBroker } = await import('../../engine-broker/broker-rig.ts')
  const closings: (() => unknown)[] = []
  const { address } = await startBroker({ after: (closing) => void closings.push(closing) })
  const rig = await openDockerEngine(address)
  const close = async () => {
    await rig.close()
    for (const closing of closings) await closing()
  }
  return { ...rig, name: 'Docker Engine behind the broker', close }
}

/** @param dockerHost where the runtime finds the engine */
export async function openDockerEngine(dockerHost = engineAddress): Promise<RuntimeRig> {
  const installation = newInstallation()
  const other = `${installation}-other`
  const open = (name: string, address: string) =>
    createDockerRuntime({ installation: name, dockerHost: address, network: name })
  const [runtime, neighbour] = [open(installation, dockerHost), open(other, engineAddress)]
  const image = await testImage()
  await Promise.all([runtime.prepare(), neighbour.prepare()])
  return {
    name: 'Docker Engine',
    runtime,
    neighbour,
    installation,
    ...containersOf(runtime, installation, image),
    pause: (id) => askEngine('POST', `/containers/${id}/pause`),
    stopFromOutside: (id) => askEngine('POST', `/containers/${id}/stop`),
    isolates: true,
    seesOthers: dockerHost === engineAddress,
    precision: 1,
    close: async () => void (await Promise.all([removeInstallation(installation), removeInstallation(other)])),
  }
}

/** A runtime of an installation of its own at an address; whatever it makes is taken away after the test. */
export function openAt(
  dockerHost: string,
  lifetime: Lifetime,
  options: Partial<DockerRuntimeOptions> = {},
): { runtime: Runtime; installation: string } {
  const installation = newInstallation()
  const runtime = createDockerRuntime({ installation, dockerHost, network: installation, ...options })
  lifetime.after(async () => {
    // Waits for a network that is being made ahead, which would otherwise be left.
    if (options.maxPerNetwork !== undefined) await runtime.prepare().catch(() => undefined)
    await removeInstallation(installation)
  })
  return { installation, runtime }
}

/** As `openAt`, at the machine's own engine, with what it takes to run something. */
export async function openInstallation(
  lifetime: Lifetime,
  options: Partial<DockerRuntimeOptions> = {},
): Promise<Pick<RuntimeRig, 'runtime' | 'installation' | 'spec' | 'run'>> {
  const { installation, runtime } = openAt(engineAddress, lifetime, options)
  const image = await testImage()
  return { installation, runtime, ...containersOf(runtime, installation, image) }
}

/** What a rig launches. @param image for tests */
export function containersOf(runtime: Runtime, installation: string, image: string): Pick<RuntimeRig, 'spec' | 'run'> {
  const spec: RuntimeRig['spec'] = (name, fields) => ({
    ...plainSpec,
    name: `${installation}-${name}`,
    image,
    ...fields,
  })
  return { spec, run: (name, fields) => createAndStart(runtime, spec(name, fields)) }
}

/** A container with nothing special, and no home. */
export const plainSpec: Omit<ContainerSpec, 'name' | 'image'> = {
  owner: { userId: 1, slug: 'ann', type: 'dev' },
  port: 8080,
  env: {},
  command: null,
  memory: 64 * 1024 ** 2,
  cpus: 1,
  pids: 64,
  shmSize: 64 * 1024 ** 2,
  gpus: 0,
  devices: [],
  home: null,
  mounts: [],
  runtime: null,
  readOnly: false,
  capAdd: [],
  allowSetuid: false,
  fingerprint: 'first',
}

export async function createAndStart(runtime: Runtime, spec: ContainerSpec): Promise<RuntimeContainer> {
  const { id } = await runtime.create(spec)
  await runtime.start(id)
  return look(runtime, id)
}

/** @throws {Error} when there is none */
export async function look(runtime: Runtime, id: string): Promise<RuntimeContainer> {
  const found = await runtime.inspectId(id)
  if (!found) throw new Error(`container ${id} is gone`)
  return found
}

/** A command for the image: the shell's, then a web server that shows the files of `/tmp`. */
export const shell = (script: string): Pick<ContainerSpec, 'command'> => ({
  command: ['/bin/sh', '-c', `${script}\nexec httpd -f -p 8080 -h /tmp`],
})

/** What the app answers; programs take a moment to listen. @throws {Error} when it did not within 20 s */
export async function read({ address, port }: Pick<RuntimeContainer, 'address' | 'port'>, file = ''): Promise<string> {
  return eventually(async () => {
    const response = await fetch(`http://${address}:${port}/${file}`, { signal: AbortSignal.timeout(waitLimit(1_000)) })
    if (!response.ok) throw new Error(`${file} answers ${response.status}`)
    return response.text()
  })
}

/** Connects, and leaves: what `nc -l` waits for. @throws {Error} when the port is closed */
export async function touch(address: string, port: number): Promise<void> {
  const socket = connect(port, address)
  try {
    await once(socket, 'connect')
  } finally {
    socket.destroy()
  }
}

/** Repeats until it does not throw any more. @param limit ms on two quick cores @throws what it threw last */
export async function eventually<T>(attempt: () => T | Promise<T>, limit = 20_000): Promise<T> {
  const end = performance.now() + waitLimit(limit)
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** For `assert.rejects`. */
export const ofKind = (kind: RuntimeErrorKind) => (error: unknown) =>
  error instanceof RuntimeError && error.kind === kind
