import type { Attempt } from './attack-attempt.ts'
import { exhaustDisk, exhaustMemory, exhaustProcesses } from './attempts/exhaust-host.ts'
import { gainRights } from './attempts/gain-rights.ts'
import { reachHost, reachMetadata, reachNeighbours } from './attempts/reach-others.ts'
import { hijackOrigin, tossCookies } from './attempts/take-origin.ts'
import { useApi } from './attempts/use-api.ts'
import { useEngine } from './attempts/use-engine.ts'

/** All attempts, in their order; those that may end the container come last. */
export const allAttempts: readonly Attempt[] = [
  { name: 'neighbours', run: reachNeighbours },
  { name: 'host', run: reachHost },
  { name: 'metadata', run: reachMetadata },
  { name: 'engine', run: useEngine },
  { name: 'rights', run: gainRights },
  { name: 'api', run: useApi },
  { name: 'cookies', run: tossCookies },
  { name: 'origin', run: hijackOrigin },
  { name: 'disk', run: exhaustDisk },
  { name: 'processes', run: exhaustProcesses },
  { name: 'memory', run: exhaustMemory },
]
