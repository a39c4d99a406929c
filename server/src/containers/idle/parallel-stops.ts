import type { RuntimeCapabilities } from '#/engines/runtime-capabilities.ts'

/**
 * Max containers that are stopped at the same time when many are due at one moment. A program that ignores SIGTERM takes 10 s, in
 * which one engine has nothing to do; the pods of a cluster end on all of its nodes, each within seconds. Three monitors stop so
 * many each, and launches and resumptions need connections to one engine beside them (96).
 */
export const maxParallelStops = ({ keepsStopped }: Pick<RuntimeCapabilities, 'keepsStopped'>): number =>
  keepsStopped ? 16 : 64
