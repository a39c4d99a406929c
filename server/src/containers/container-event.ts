import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { UserEvent } from './user-events.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteStatus } from '#/containers/routes/route-changes.ts'

/** The event of a container's status for its owner, with the cause when its program has ended or never ran. */
export function containerEvent(type: string, status: RouteStatus, known?: ContainerState): UserEvent {
  const why = known && whyOf(status, known)
  return { name: 'container', data: why === undefined ? { type, status } : { type, status, message: why } }
}

/** From the last inspect, not from the launch: it is known after a restart of Berth, too. */
function whyOf(status: RouteStatus, { seen, failure }: ContainerState): LocalizedMessage | undefined {
  if (status === 'evicted') return message('launches.evicted')
  if (status === 'node-lost') return message('launches.nodeLost')
  if (status === 'no-image') return message('launches.noImage')
  if (status === 'failed') return message('launches.failed')
  if (status === 'out-of-memory') return message('launches.outOfMemory')
  if (status !== 'crashed') return undefined
  const exitCode = (seen && seen !== 'gone' ? seen.exitCode : null) ?? failure?.exitCode ?? null
  if (exitCode === null) return message('launches.ended')
  const isCommandMissing = exitCode === 126 || exitCode === 127
  return message(isCommandMissing ? 'launches.commandMissing' : 'launches.endedWith', { exitCode })
}
