import type { Member } from '@berth/api/schemas/groups.ts'
import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { memo, useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { useFocusInRows } from '#/groups/live/use-focus-in-rows.ts'
import { MemberRow, type MemberRowProps } from './member-row.tsx'

/** Rows that are made at once, more than a screen has, and in each step after that: a fifth of a second on a cheap phone. */
const [firstScreen, step] = [20, 140]

interface MemberRowsProps extends Omit<MemberRowProps, 't' | 'member' | 'state'> {
  members: readonly Member[]
  /** By id as a user. */
  states: ReadonlyMap<number, MemberState>
  /** Ids of those that the filters leave. */
  shown: ReadonlySet<number>
  /** A control in the row of this member was pressed, or has the focus. */
  onUse: ((id: number) => void) | undefined
}

/**
 * A row for each member. All are in the document, where assistive technology and the browser's search reach them; the
 * browser lays out those on the screen (`content-visibility`). What a filter leaves out is hidden and not removed: making
 * 300 rows again takes longer than a press may.
 */
export const MemberRows = memo(function MemberRows({ members, states, shown, onUse, ...more }: MemberRowsProps) {
  const t = useTranslations('groups')
  const list = useRef<HTMLUListElement>(null)
  const keepFocus = useFocusInRows(list)
  const count = useSteps(members.length)
  return (
    <ul ref={list} className="rows member-rows" {...keepFocus}>
      {members.slice(0, count).map((member) => (
        <li
          key={member.user.id}
          className="row member-row"
          hidden={!shown.has(member.user.id)}
          onFocusCapture={() => onUse?.(member.user.id)}
          // Safari gives a button that is pressed no focus.
          onClickCapture={() => onUse?.(member.user.id)}
        >
          <MemberRow {...more} t={t} member={member} state={states.get(member.user.id)} />
        </li>
      ))}
    </ul>
  )
})

/** How many rows are made by now. In steps: a rendering in the background yields to a frame after every few rows. */
function useSteps(total: number): number {
  const [count, setCount] = useState(firstScreen)
  useEffect(() => {
    if (count >= total) return
    const timer = setTimeout(() => setCount(count + step))
    return () => clearTimeout(timer)
  }, [count, total])
  return count
}
