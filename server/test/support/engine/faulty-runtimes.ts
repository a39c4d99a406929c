import type { Owner } from '#/engines/container-spec.ts'
import type { HomeContents, Runtime } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'

/** A fault that a test can end and begin again while Berth runs. */
export interface Fault {
  active: boolean
}

/** Does it with the fault active. */
export async function during<T>(fault: Fault, work: () => Promise<T>): Promise<T> {
  fault.active = true
  try {
    return await work()
  } finally {
    fault.active = false
  }
}

const always: Fault = { active: true }

/** Delegates every call, so that a vice has to name only what it does wrong. */
function passThrough(runtime: Runtime): Runtime {
  return {
    capabilities: runtime.capabilities,
    prepare: () => runtime.prepare(),
    ping: () => runtime.ping(),
    inspect: (name) => runtime.inspect(name),
    inspectId: (id) => runtime.inspectId(id),
    imageId: (image) => runtime.imageId(image),
    imageInfo: (image) => runtime.imageInfo(image),
    fetchImage: (image, options) => runtime.fetchImage(image, options),
    create: (spec, options) => runtime.create(spec, options),
    start: (id, signal, onWait) => runtime.start(id, signal, onWait),
    pause: (id, signal) => runtime.pause(id, signal),
    stop: (id, signal, grace) => runtime.stop(id, signal, grace),
    remove: (id, signal) => runtime.remove(id, signal),
    removeStopped: (id) => runtime.removeStopped(id),
    list: (filter) => runtime.list(filter),
    logs: (id, lines) => runtime.logs(id, lines),
    followLogs: (id, lines, onLine, signal) => runtime.followLogs(id, lines, onLine, signal),
    listening: (id, signal) => runtime.listening(id, signal),
    connectToLoopback: (id, port, signal) => runtime.connectToLoopback(id, port, signal),
    exec: (id, command, signal) => runtime.exec(id, command, signal),
    homes: (userId) => runtime.homes(userId),
    hasHome: (volume) => runtime.hasHome(volume),
    homeRights: (id, home, signal) => runtime.homeRights(id, home, signal),
    ensureFolder: (volume) => runtime.ensureFolder(volume),
    removeFolder: (volume) => runtime.removeFolder(volume),
    removeHome: (volume) => runtime.removeHome(volume),
    measureHomes: (...args) => runtime.measureHomes(...args),
    measureLayer: (id, signal) => runtime.measureLayer(id, signal),
    host: () => runtime.host(),
    hostMemory: () => runtime.hostMemory(),
    usage: (id) => runtime.usage(id),
    watch: (onEvent, signal) => runtime.watch(onEvent, signal),
    containerFiles: () => runtime.containerFiles(),
    homeContents: () => runtime.homeContents(),
    imageBuilds: () => runtime.imageBuilds(),
    imageStore: () => runtime.imageStore(),
    isolationTrial: () => runtime.isolationTrial(),
    counts: () => runtime.counts(),
  }
}

/** An engine that does not answer any more: every call rejects as `unreachable`. */
export function unreachableRuntime(runtime: Runtime, fault: Fault): Runtime {
  const unlessUnreachable = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    // The kind of words that an engine's client puts into errors, and that no user may read.
    const cause = new Error('connect ECONNREFUSED /var/run/secret-engine.sock')
    if (fault.active) throw new RuntimeError('unreachable', what, cause)
    return work()
  }
  return {
    capabilities: runtime.capabilities,
    prepare: () => unlessUnreachable('prepare', () => runtime.prepare()),
    ping: () => unlessUnreachable('ping', () => runtime.ping()),
    inspect: (name) => unlessUnreachable('inspect', () => runtime.inspect(name)),
    inspectId: (id) => unlessUnreachable('inspect', () => runtime.inspectId(id)),
    imageId: (image) => unlessUnreachable('inspect image', () => runtime.imageId(image)),
    imageInfo: (image) => unlessUnreachable('inspect image', () => runtime.imageInfo(image)),
    fetchImage: (image, options) => unlessUnreachable('pull', () => runtime.fetchImage(image, options)),
    create: (spec, options) => unlessUnreachable('create', () => runtime.create(spec, options)),
    start: (id, signal, onWait) => unlessUnreachable('start', () => runtime.start(id, signal, onWait)),
    pause: (id, signal) => unlessUnreachable('pause', () => runtime.pause(id, signal)),
    stop: (id, signal, grace) => unlessUnreachable('stop', () => runtime.stop(id, signal, grace)),
    remove: (id, signal) => unlessUnreachable('remove', () => runtime.remove(id, signal)),
    removeStopped: (id) => unlessUnreachable('remove', () => runtime.removeStopped(id)),
    list: (filter) => unlessUnreachable('list', () => runtime.list(filter)),
    logs: (id, lines) => unlessUnreachable('logs', () => runtime.logs(id, lines)),
    followLogs: (id, lines, onLine, signal) =>
      unlessUnreachable('logs', () => runtime.followLogs(id, lines, onLine, signal)),
    listening: (id, signal) => unlessUnreachable('listening', () => runtime.listening(id, signal)),
    connectToLoopback: (id, port, signal) =>
      unlessUnreachable('connectToLoopback', () => runtime.connectToLoopback(id, port, signal)),
    exec: (id, command, signal) => unlessUnreachable('exec', () => runtime.exec(id, command, signal)),
    homes: (userId) => unlessUnreachable('homes', () => runtime.homes(userId)),
    hasHome: (volume) => unlessUnreachable('has home', () => runtime.hasHome(volume)),
    homeRights: (id, home, signal) => unlessUnreachable('home rights', () => runtime.homeRights(id, home, signal)),
    ensureFolder: (volume) => unlessUnreachable('ensure folder', () => runtime.ensureFolder(volume)),
    removeFolder: (volume) => unlessUnreachable('remove folder', () => runtime.removeFolder(volume)),
    removeHome: (volume) => unlessUnreachable('remove home', () => runtime.removeHome(volume)),
    measureHomes: (...args) => unlessUnreachable('measure homes', () => runtime.measureHomes(...args)),
    measureLayer: (id, signal) => unlessUnreachable('measure layer', () => runtime.measureLayer(id, signal)),
    host: () => unlessUnreachable('host', () => runtime.host()),
    hostMemory: () => runtime.hostMemory(),
    usage: (id) => unlessUnreachable('usage', () => runtime.usage(id)),
    watch: (onEvent, signal) => runtime.watch(onEvent, signal),
    containerFiles: () => runtime.containerFiles(),
    homeContents: () => runtime.homeContents(),
    imageBuilds: () => runtime.imageBuilds(),
    imageStore: () => runtime.imageStore(),
    isolationTrial: () => runtime.isolationTrial(),
    counts: () => runtime.counts(),
  }
}

/** An engine that makes no new containers. Also the quick way to people without any. */
export const noCreateRuntime = (runtime: Runtime, fault: Fault = always): Runtime =>
  noCreateFor(runtime, async () => fault.active)

/** An engine that makes no new containers of some owners. */
export function noCreateFor(runtime: Runtime, isRefused: (owner: Owner) => Promise<boolean>): Runtime {
  return {
    ...passThrough(runtime),
    create: async (spec, options) => {
      if (await isRefused(spec.owner)) throw new RuntimeError('image', `create ${spec.name}`)
      return runtime.create(spec, options)
    },
  }
}

/** An engine that takes its time before it makes a container. @param delay ms */
export function slowRuntime(runtime: Runtime, delay: number): Runtime {
  return {
    ...passThrough(runtime),
    create: async (spec, options) => {
      await new Promise((resolve) => setTimeout(resolve, delay))
      return runtime.create(spec, options)
    },
  }
}

/** An engine that makes a container when the test allows it. */
export function gatedRuntime(runtime: Runtime, mayGoOn: () => Promise<void>): Runtime {
  return {
    ...passThrough(runtime),
    create: async (spec, options) => {
      await mayGoOn()
      return runtime.create(spec, options)
    },
  }
}

/** An engine that can neither stop nor remove what runs. */
export function noStopRuntime(runtime: Runtime, fault: Fault): Runtime {
  const unlessStubborn = async (what: string, work: () => Promise<void>): Promise<void> => {
    if (fault.active) throw new RuntimeError('failed', what)
    return work()
  }
  return {
    ...passThrough(runtime),
    stop: (id, signal, grace) => unlessStubborn('stop', () => runtime.stop(id, signal, grace)),
    remove: (id, signal) => unlessStubborn('remove', () => runtime.remove(id, signal)),
  }
}

/** An engine that can start only what it made while the fault was active; whatever is older fails to start. */
export function noRestartRuntime(runtime: Runtime, fault: Fault): Runtime {
  const remembered = new Set<string>()
  return {
    ...passThrough(runtime),
    create: async (spec, options) => {
      const created = await runtime.create(spec, options)
      if (fault.active) remembered.add(created.id)
      return created
    },
    start: async (id, signal) => {
      if (fault.active && !remembered.has(id)) throw new RuntimeError('failed', 'start')
      return runtime.start(id, signal)
    },
  }
}

/** An engine that has fetched a third of an image for containers of this type, and goes on when it is let. */
export function stalledPullRuntime(runtime: Runtime, type: string, isLet: Promise<void>): Runtime {
  return {
    ...passThrough(runtime),
    create: async (spec, options) => {
      if (spec.owner.type !== type) return runtime.create(spec, options)
      options?.onPull?.({ layersDone: 3, layersTotal: 7, bytesDone: 120e6, bytesTotal: 400e6 })
      await isLet
      return runtime.create(spec, options)
    },
  }
}

/** An engine whose containers write without end, as fast as is read. @param seen lines so far, and who reads now */
export function endlessLogsRuntime(runtime: Runtime, seen: { lines: number; readers: number }): Runtime {
  return {
    ...passThrough(runtime),
    followLogs: async (_id, _lines, onLine, signal) => {
      seen.readers++
      while (!signal.aborted) await onLine(`${++seen.lines}`.padStart(400, '.'))
      seen.readers--
    },
  }
}

/** An engine that is killed, or stops answering, while it removes a home: what `removed` did of it is done. */
export function noHomeRemovalRuntime(
  runtime: Runtime,
  fault: Fault,
  removed: (volume: string) => Promise<void>,
): Runtime {
  return {
    ...passThrough(runtime),
    removeHome: async (volume) => {
      if (!fault.active) return runtime.removeHome(volume)
      await removed(volume)
      throw new RuntimeError('unreachable', `remove ${volume}`)
    },
  }
}

/** An engine with other ways into homes. */
export function runtimeWithHomes(runtime: Runtime, change: (contents: HomeContents) => HomeContents): Runtime {
  const contents = runtime.homeContents()
  if (!contents) throw new Error('the engine cannot read homes')
  return { ...passThrough(runtime), homeContents: () => change(contents) }
}
