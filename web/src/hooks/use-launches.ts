import { useEffect, useEffectEvent, useState } from 'react'
import type { LaunchEvent } from '@berth/api/container.ts'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api.ts'
import { follow, type Bookmark, type ServerEvent } from '#/event-stream.ts'
import { isNews, takeIn, without, type Launches } from '#/launches.ts'
import { whileVisible } from '#/visible.ts'

/** How long an app is waited for before nobody speaks of it any more, in ms: some never listen. */
const appPatience = 60_000
/** How long what was told last is believed after the stream broke off, in ms. */
const trust = 5_000

const nothing: Launches = new Map()

/**
 * How far the person's launches are, whoever asked for them, while the page is visible. Nothing where the stream cannot
 * be had: everything works without it, by asking.
 * @param onNews a container is not what it was: time to look
 */
export function useLaunches(onNews?: () => void): Launches {
  const [launches, setLaunches] = useState(nothing)
  const tellNews = useEffectEvent(() => onNews?.())

  useEffect(() => {
    const bookmark: Bookmark = {}
    let distrust: ReturnType<typeof setTimeout> | undefined
    let isFirst = true

    const onEvents = (events: readonly ServerEvent[]) => {
      setLaunches((known) => takeIn(known, events))
      for (const event of appsWaitedFor(events))
        setTimeout(() => setLaunches((known) => without(known, event)), appPatience)
      // How things are when the page opens, it asks by itself.
      if (!isFirst && isNews(events)) tellNews()
      if (events.length > 0) isFirst = false
    }
    const onLost = () => (distrust ??= setTimeout(() => setLaunches(nothing), trust))
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

  return launches
}

const appsWaitedFor = (events: readonly ServerEvent[]) =>
  events
    .filter(({ name }) => name === 'launch')
    .map(({ data }) => data as LaunchEvent)
    .filter(({ stage }) => stage === 'waiting')
