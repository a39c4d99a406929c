import type { Attempt } from './attack-attempt.ts'
import { exhaustDisk, exhaustMemory, exhaustProcesses } from './exhaust-host.ts'
import { gainRights } from './gain-rights.ts'
import { reachHost, reachMetadata, reachNeighbours } from './reach-others.ts'
import { hijackOrigin, tossCookies } from './take-origin.ts'
import { useApi } from './use-api.ts'
import { useEngine } from './use-engine.ts'

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
