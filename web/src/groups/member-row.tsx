import { memo } from 'react'
import type { useTranslations } from 'use-intl/react'
import type { Member } from '@berth/api/schemas/groups.ts'
import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { Icon } from '#/components/icon.tsx'
import { blocked, pause, play, stopped, warning } from '#/icons/icons.ts'
import { eye, hourglass, manager, nothing, starting, unknown } from '#/icons/late-icons.ts'
import {
  hasColumns,
  isAsked,
  memberView,
  nameOf,
  needOf,
  toneOf,
  type ContainerView,
  type Launchables,
  type StatusWord,
} from './member-view.ts'

/** Looks up texts of groups. A list has one for all its rows: each use of the hook makes one. */
export type GroupTexts = ReturnType<typeof useTranslations<'groups'>>

/** What a row shows. */
export interface MemberRowProps {
  t: GroupTexts
  member: Member
  /** Undefined while the stream has not said it. */
  state: MemberState | undefined
  types: Launchables
  /** Opens what is known of this member, and what can be done. */
  onOpen(id: number): void
}

const icons: Readonly<Record<StatusWord, string>> = {
  running: play,
  paused: pause,
  stopped,
  missing: nothing,
  failed: warning,
  unknown,
  blocked,
  queued: hourglass,
  starting,
}

/** Edge of a sign in a row, in px. */
const iconSize = 16

/**
 * The cells of a row: a member with role and presence, and what their containers do. Its one control is the member's name; all
 * of the row presses it. Rendered again only when something of it changes.
 */
export const MemberRow = memo(function MemberRow({ t, member, state, types, onOpen }: MemberRowProps) {
  const view = memberView(member, state, types)
  const { isHere, containers } = view
  const { id, email } = member.user
  const name = nameOf(member)
  return (
    <>
      <div role="rowheader" className="member-name" data-need={needOf(view)}>
        <span className={isHere === true ? 'presence here' : 'presence'}>
          {isHere === true && <span className="visually-hidden">{t('live.isHere')}</span>}
        </span>
        <button type="button" className="member-open address" aria-haspopup="dialog" onClick={() => onOpen(id)}>
          {name}
        </button>
        {member.role === 'manager' && (
          <>
            <Icon path={manager} size={iconSize} />
            <span className="visually-hidden">{t('members.role.manager')}</span>
          </>
        )}
        {name !== email && <span className="member-address">{email}</span>}
      </div>
      {hasColumns(types) ? (
        types.map(({ type }, at) => (
          <div role="cell" key={type} className="member-states">
            {containers[at] && <State t={t} container={containers[at]} />}
          </div>
        ))
      ) : (
        <div role="cell" className="member-states">
          {containers.length === 0 && t('members.containers.none')}
          {containers.map((each) => (
            <State key={each.type} t={t} container={each} />
          ))}
        </div>
      )}
    </>
  )
})

interface StateProps {
  t: GroupTexts
  container: ContainerView
}

/** What a container does: a sign and a word, after the name of its type, which is seen where no column says it. */
function State({ t, container }: StateProps) {
  const { word, place, name } = container
  return (
    <span className={`member-state ${toneOf(word)} ${word}`}>
      <Icon path={icons[word]} size={iconSize} />
      <span className="member-word">
        <span className="member-type">{name}: </span>
        {word === 'queued' && place !== null ? t('live.placeInRow', { place }) : t(`members.status.${word}`)}
        {isAsked(container) && (
          <span className="visually-hidden">
            , {t(container.look?.state === 'open' ? 'live.mayLook' : 'live.wasAsked')}
          </span>
        )}
      </span>
      {isAsked(container) && <Icon path={eye} size={iconSize} />}
    </span>
  )
}
