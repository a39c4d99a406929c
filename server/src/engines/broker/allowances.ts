/** What templates may ask of the engine beyond what each container gets, as the operator of the broker allows it. */
export interface Allowances {
  /** Names of Linux capabilities, without `CAP_`. */
  readonly capabilities: ReadonlySet<string>
  /** Paths of devices on the host. */
  readonly devices: ReadonlySet<string>
  /** Names of OCI runtimes that the engine knows. */
  readonly runtimes: ReadonlySet<string>
  /** Names of volumes that containers share. */
  readonly volumes: ReadonlySet<string>
  /**
   * Folders of the host that may be mounted writable. What is below one cannot be mounted by itself: a container that writes
   * to the folder could put a link to any other in its place, which the engine follows when it starts the next container.
   */
  readonly writable: ReadonlySet<string>
  readonly hasGpus: boolean
}

const kinds = ['capability', 'device', 'runtime', 'volume', 'writable'] as const

/**
 * Reads `BROKER_ALLOW`: entries such as `capability=SYS_PTRACE`, `device=/dev/fuse`, `runtime=runsc`, `volume=course-data`,
 * `writable=/srv/shared` and `gpus`, separated by commas.
 * @throws {Error} in words, for an entry that is none of these
 */
export function readAllowances(text: string): Allowances {
  const entries = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
  const of = new Map(kinds.map((kind) => [kind, new Set<string>()]))
  let hasGpus = false
  for (const entry of entries) {
    const [, kind = '', name = ''] = /^([a-z]+)=(\S+)$/.exec(entry) ?? []
    const names = kinds.find((each) => each === kind)
    if (entry === 'gpus') hasGpus = true
    else if (names) of.get(names)?.add(name)
    else throw new Error(`BROKER_ALLOW has "${entry}"; an entry is gpus, or one of ${kinds.join(', ')} with =name`)
  }
  const [capabilities, devices, runtimes, volumes, writable] = kinds.map((kind) => of.get(kind) ?? new Set<string>())
  if (!capabilities || !devices || !runtimes || !volumes || !writable) throw new Error('each kind has a set')
  return { capabilities, devices, runtimes, volumes, writable, hasGpus }
}
