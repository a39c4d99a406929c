import type { Runtime } from '#/runtime/runtime.ts'
import { EngineClient } from './client.ts'
import { create } from './create.ts'
import type { Engine } from './engine.ts'
import { findEngine } from './find-engine.ts'
import { followLogs } from './follow-logs.ts'
import { HomeSize } from './home-size.ts'
import { homes, removeHome } from './homes.ts'
import { hostReport } from './host-report.ts'
import { HostRules } from './host-rules.ts'
import { Host } from './host.ts'
import { imageId } from './images.ts'
import { inspect, inspectId } from './inspect.ts'
import { list } from './list.ts'
import { logs } from './logs.ts'
import { measureHomes } from './measure-homes.ts'
import { Networks, usualPerNetwork } from './networks.ts'
import { pause } from './pause.ts'
import { prepare } from './prepare.ts'
import { Pulls } from './pull.ts'
import { remove, removeStopped } from './remove.ts'
import { start } from './start.ts'
import { stop } from './stop.ts'
import { usage } from './usage.ts'
import { watch } from './watch.ts'

export interface DockerRuntimeOptions {
  /** Name of this installation; on every label. */
  readonly instance: string
  /** `unix:///path` or `tcp://host:port`; undefined looks at the usual places. */
  readonly dockerHost: string | undefined
  /** Name of the first bridge network that is made for this installation's containers; further ones get a number. */
  readonly network: string
  /** Containers on one network, at most; undefined: as many as a bridge takes. */
  readonly perNetwork?: number
  /** Whether `prepare` sets rules of the host, where it may; undefined: no. */
  readonly hostRules?: 'auto' | 'off'
}

/** The Docker Engine as a runtime. Nothing is asked of the engine yet. @throws {Error} when `dockerHost` is no address */
export function createDockerRuntime(options: DockerRuntimeOptions): Runtime {
  const engine = connect(options)
  const { client } = engine
  return {
    prepare: () => prepare(engine),
    ping: async () => void (await client.ping()),
    inspect: (name) => inspect(engine, name),
    inspectId: (id) => inspectId(engine, id),
    imageId: (image) => imageId(engine, image),
    create: (spec, options) => create(engine, spec, options),
    start: (id, signal) => start(engine, id, signal),
    pause: (id, signal) => pause(engine, id, signal),
    stop: (id, signal, grace) => stop(engine, id, signal, grace),
    remove: (id, signal) => remove(engine, id, signal),
    removeStopped: (id) => removeStopped(engine, id),
    list: (filter) => list(engine, filter),
    logs: (id, lines) => logs(engine, id, lines),
    followLogs: (id, lines, onLine, signal) => followLogs(engine, id, lines, onLine, signal),
    homes: () => homes(engine),
    removeHome: (volume) => removeHome(engine, volume),
    measureHomes: (signal) => measureHomes(engine, signal),
    host: () => hostReport(engine),
    usage: (id) => usage(engine, id),
    watch: (onEvent, signal) => watch(engine, onEvent, signal),
  }
}

function connect(options: DockerRuntimeOptions): Engine {
  const { instance, dockerHost, network: first, perNetwork = usualPerNetwork, hostRules = 'off' } = options
  const address = findEngine(dockerHost)
  const client = new EngineClient(address)
  const isLocal = address.startsWith('unix:')
  return {
    client,
    instance,
    isLocal,
    networks: new Networks(client, { instance, first, perNetwork }),
    rules: new HostRules(hostRules, isLocal),
    host: new Host(client, isLocal, new HomeSize(client, instance)),
    pulls: new Pulls(client),
  }
}
