import type { RuntimeCapabilities } from '#/engines/runtime-capabilities.ts'
import type { Template } from '#/templates/template.ts'

/** Idle times of a template as an engine can hold them. */
export type IdleTimes = Pick<Template, 'idlePause' | 'idleTimeout' | 'idleCpu'>

/**
 * Where nothing can be paused, a container is stopped after `idle_pause`: its home stays, its memory does not. Where no CPU
 * time is reported, traffic alone counts as use.
 */
export function idleTimesOf(
  { idlePause, idleTimeout, idleCpu }: IdleTimes,
  { pauses, reportsUsage }: Pick<RuntimeCapabilities, 'pauses' | 'reportsUsage'>,
): IdleTimes {
  return {
    idlePause: pauses ? idlePause : 0,
    idleTimeout: pauses ? idleTimeout : idlePause || idleTimeout,
    idleCpu: reportsUsage ? idleCpu : null,
  }
}
