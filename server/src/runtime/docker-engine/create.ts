import type { ContainerCreateOptions } from 'dockerode'
import { RuntimeError, type Created, type InstanceSpec } from '#/runtime/runtime.ts'
import { call, limits } from './client.ts'
import type { Engine } from './engine.ts'
import { homeLabels, labelsFor } from './labels.ts'
import { pull } from './pull.ts'

/** What an image declares when it declares nothing. */
const defaultPort = 8080

/** Enough for programs that start as root and step down; without the six of Docker's that reach further. */
const capabilities = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETUID', 'SETGID', 'KILL', 'NET_BIND_SERVICE']

export async function create(engine: Engine, spec: InstanceSpec, signal?: AbortSignal): Promise<Created> {
  const port = spec.port ?? (await exposedPort(engine, spec.image, signal))
  const options = toOptions(engine, spec, port)
  const attempt = () =>
    call(
      `create ${spec.name}`,
      limits.create,
      (abortSignal) => engine.docker.createContainer({ ...options, abortSignal } as ContainerCreateOptions),
      signal,
    )
  try {
    return { id: (await attempt()).id, port }
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.kind !== 'image') throw error
    await pull(engine, spec.image, signal)
    return { id: (await attempt()).id, port }
  }
}

/** The single port that the image exposes; pulls it first when it is missing. */
async function exposedPort(engine: Engine, image: string, signal?: AbortSignal): Promise<number> {
  const look = () => call(`inspect image ${image}`, limits.read, () => engine.docker.getImage(image).inspect(), signal)
  const found = await look().catch(async (error: unknown) => {
    if (!(error instanceof RuntimeError) || error.kind === 'unreachable') throw error
    await pull(engine, image, signal)
    return look()
  })
  const exposed = Object.keys(found.Config.ExposedPorts ?? {})
  return exposed.length === 1 ? Number.parseInt(exposed[0] ?? '', 10) : defaultPort
}

function toOptions(engine: Engine, spec: InstanceSpec, port: number): ContainerCreateOptions {
  return {
    name: spec.name,
    Image: spec.image,
    Env: Object.entries({ ...spec.env, PORT: String(port) }).map(([name, value]) => `${name}=${value}`),
    ...(spec.command ? { Cmd: [...spec.command] } : {}),
    Labels: labelsFor(engine.instance, spec, port),
    StopTimeout: 10,
    HostConfig: { ...limitsOf(engine, spec), ...rightsOf(spec), ...placeOf(engine, spec) },
    NetworkingConfig: { EndpointsConfig: { [engine.network]: {} } },
  }
}

/** What it may use up. An app is killed before the platform is. */
function limitsOf({ cores }: Engine, { memory, cpus, pids }: InstanceSpec): ContainerCreateOptions['HostConfig'] {
  return {
    Memory: memory,
    MemorySwap: memory,
    OomScoreAdj: 500,
    NanoCpus: Math.round(Math.min(cpus, cores) * 1e9),
    PidsLimit: pids,
    // No limit of open files: more than the engine itself has makes the start fail where it may not raise its own.
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
    ShmSize: 64 * 1024 ** 2,
    LogConfig: { Type: 'local', Config: { 'max-size': '10m', 'max-file': '3' } },
  }
}

/** What it may do: never more than a template says, and no template can make it privileged or give it the host's files. */
function rightsOf({
  capAdd,
  allowSetuid,
  readOnly,
  runtime,
}: InstanceSpec): ContainerCreateOptions['HostConfig'] & { CgroupnsMode: string } {
  const scratch = 'rw,nosuid,nodev'
  return {
    Privileged: false,
    CapDrop: ['ALL'],
    CapAdd: [...capabilities, ...capAdd],
    SecurityOpt: allowSetuid ? [] : ['no-new-privileges:true'],
    IpcMode: 'private',
    CgroupnsMode: 'private',
    ReadonlyRootfs: readOnly,
    ...(readOnly ? { Tmpfs: { '/tmp': scratch, '/run': scratch, '/var/tmp': scratch } } : {}),
    ...(runtime ? { Runtime: runtime } : {}),
  }
}

/** Where it lives: our network, no published port, its home. `always` as restart policy would undo a block. */
function placeOf({ instance, network }: Engine, { home, owner }: InstanceSpec): ContainerCreateOptions['HostConfig'] {
  return {
    NetworkMode: network,
    RestartPolicy: { Name: 'no' },
    Init: true,
    AutoRemove: false,
    ...(home
      ? {
          Mounts: [
            {
              Type: 'volume',
              Source: home.volume,
              Target: home.path,
              VolumeOptions: {
                NoCopy: false,
                Labels: { ...homeLabels(instance, owner) },
                DriverConfig: { Name: 'local', Options: {} },
              },
            },
          ],
        }
      : {}),
  }
}
