import type { Member } from '@berth/api/schemas/groups.ts'
import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { memo, useEffect, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { MemberView } from '#/groups/live/member-view.ts'
import { MemberRow, type MemberRowProps } from './member-row.tsx'

/** Rows that are made at once, more than a screen has, and in each step after that: a fifth of a second on a cheap phone. */
const [firstScreen, step] = [20, 140]

interface MemberRowsProps extends Omit<MemberRowProps, 't' | 'member' | 'state'> {
  members: readonly Member[]
  /** By id as a user. */
  states: ReadonlyMap<number, MemberState>
  /** Those that the filters leave. */
  shown: readonly MemberView[]
}

/**
 * A row for each member. All are in the document, where assistive technology and the browser's search reach them; the
 * browser lays out those on the screen (`content-visibility`). What a filter leaves out is hidden and not removed: making
 * 300 rows again takes longer than a press may.
 */
export const MemberRows = memo(function MemberRows({ members, states, shown, ...more }: MemberRowsProps) {
  const t = useTranslations('groups')
  const count = useSteps(members.length)
  const ids = new Set(shown.map(({ member }) => member.user.id))
  return (
    <ul className="rows member-rows">
      {members.slice(0, count).map((member) => (
        <li key={member.user.id} className="row member-row" hidden={!ids.has(member.user.id)}>
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
