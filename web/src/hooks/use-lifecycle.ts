import { useState } from 'react'
import type { ContainerEntry } from '@berth/api/user.ts'
import type { Client } from '@berth/api/client.ts'
import { connect, launchLimit } from '#/api.ts'
import { isSignedOut } from '#/errors.ts'
import { leave } from '#/hooks/use-berths.ts'
import { useTask } from '#/hooks/use-task.ts'

/** What a person can have done to a container. */
export type Verb = 'launch' | 'restart'

export interface Lifecycle {
  /** Under way now. */
  readonly verb: Verb | undefined
  /** Went well last. */
  readonly done: Verb | undefined
  readonly error: unknown
  launch(): void
  restart(): void
}

/** Launch and restart of one container, one at a time. `onChange` is called after each, whatever came of it. */
export function useLifecycle(entry: ContainerEntry, onChange: () => void): Lifecycle {
  const { busy, error, run } = useTask()
  const [verb, setVerb] = useState<Verb>()

  const start = (chosen: Verb, call: (api: Client) => Promise<unknown>) =>
    void run(async (signal) => {
      setVerb(chosen)
      try {
        await call(connect(signal, launchLimit))
      } catch (reason) {
        if (isSignedOut(reason)) leave()
        throw reason
      } finally {
        if (!signal.aborted) onChange()
      }
    })

  return {
    verb: busy ? verb : undefined,
    done: busy || error !== undefined ? undefined : verb,
    error,
    launch: () => start('launch', (api) => api.launchContainer({ params: { container_type: entry.type } })),
    restart: () => start('restart', (api) => api.restartContainer()),
  }
}
