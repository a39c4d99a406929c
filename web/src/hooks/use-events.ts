import { useEffect, useEffectEvent, useState } from 'react'
import type { LaunchEvent } from '@berth/api/container.ts'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api.ts'
import { follow, type Bookmark, type ServerEvent } from '#/event-stream.ts'
import { without } from '#/launches.ts'
import { isNews, nothingTold, takeIn, type Told } from '#/told.ts'
import { whileVisible } from '#/visible.ts'

/** How long an app is waited for before nobody speaks of it any more, in ms: some never listen. */
const appPatience = 60_000
/** How long what was told last is believed after the stream broke off, in ms. */
const trust = 5_000

/**
 * What happens to the person's containers, such as how far a launch is, whoever asked for it; told while the page is
 * visible. Nothing where the stream cannot be had: everything works without it, by asking.
 * @param onNews a container is not what it was: time to look
 */
export function useEvents(onNews?: () => void): Told {
  const [told, setTold] = useState(nothingTold)
  const tellNews = useEffectEvent(() => onNews?.())

  useEffect(() => {
    const bookmark: Bookmark = {}
    let distrust: ReturnType<typeof setTimeout> | undefined
    let isFirst = true

    const onEvents = (events: readonly ServerEvent[]) => {
      setTold((known) => takeIn(known, events))
      for (const event of appsWaitedFor(events)) setTimeout(() => forget(event), appPatience)
      // How things are when the page opens, it asks by itself.
      if (!isFirst && isNews(events)) tellNews()
      if (events.length > 0) isFirst = false
    }
    const forget = (event: LaunchEvent) => setTold((known) => ({ ...known, launches: without(known.launches, event) }))
    const forgetAll = () => {
      setTold(nothingTold)
      // So that the next connection says how things are, and not only what has changed since.
      bookmark.lastId = undefined
    }
    const onLost = () => (distrust ??= setTimeout(forgetAll, trust))
    const onOpen = () => {
      clearTimeout(distrust)
      distrust = undefined
    }
    const open = (lastId: string | undefined, signal: AbortSignal) =>
      openStream(endpoints.containerEvents.path, lastId, signal)

    const stop = whileVisible((signal) => {
      follow({ open, onOpen, onEvents, onLost }, signal, bookmark).catch(onLost)
    })
    return () => {
      stop()
      clearTimeout(distrust)
    }
  }, [])

  return told
}

const appsWaitedFor = (events: readonly ServerEvent[]) =>
  events
    .filter(({ name }) => name === 'launch')
    .map(({ data }) => data as LaunchEvent)
    .filter(({ stage }) => stage === 'waiting')
