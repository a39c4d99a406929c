import { useEffect, useRef, useState } from 'react'
import { createApiClient } from '#/api/api-client.ts'
import { useAnnounce } from './announcements.tsx'
import { isUnderWay, type ContainerView, type StatusWord } from './member-view.ts'

interface Sentences {
  readonly begun: string
  ended(word: StatusWord): string
}

/** A restart of a member's container, as its row shows it. */
export interface Restart {
  /** What the container does, or `starting` from the press until the next state: what fails at once looked as if nothing had happened. */
  readonly word: StatusWord
  /** It was restarted here before, so that its button stays while a launch is under way, and keeps the focus. */
  readonly wasAsked: boolean
  /** Resolves when the restart has begun. @throws what the API answers */
  restart(signal: AbortSignal): Promise<void>
}

/** @param container the same object until the stream reports another state */
export function useRestart(
  params: { id: string; user_id: string; container_type: string },
  container: ContainerView,
  say: Sentences,
): Restart {
  const announce = useAnnounce()
  const [before, setBefore] = useState<ContainerView>()
  const [wasAsked, setAsked] = useState(false)
  /** The user has not been told how it ended. */
  const isDue = useRef(false)
  const word = before === container ? 'starting' : container.word
  const ended = say.ended(word)

  useEffect(() => {
    if (!isDue.current || isUnderWay(word)) return
    isDue.current = false
    announce(ended)
  }, [word, ended, announce])

  async function restart(signal: AbortSignal): Promise<void> {
    setBefore(container)
    setAsked(true)
    isDue.current = true
    announce(say.begun)
    try {
      await createApiClient(signal).restartMember({ params })
    } catch (error) {
      isDue.current = false
      setBefore(undefined)
      throw error
    }
  }
  return { word, wasAsked, restart }
}
