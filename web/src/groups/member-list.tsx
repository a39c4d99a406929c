import type { Member } from '@berth/api/schemas/groups.ts'
import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { MemberRow } from './member-row.tsx'
import { useMembers } from './use-members.ts'

/** From so many members on a field finds one of them. */
const minForFilter = 12

interface MemberListProps {
  id: string
  isOff: boolean
  /** Who is in the group is a provider's affair. */
  isReadOnly: boolean
}

/** Members by address, managers first, each with containers and what can be done. */
export function MemberList({ id, isOff, isReadOnly }: MemberListProps) {
  const t = useTranslations('groups')
  const field = useId()
  const query = useMembers(id)
  const [wanted, setWanted] = useState('')
  const members = query.data?.pages.flatMap((page) => page.members).toSorted(byRoleAndAddress)
  const shown = members?.filter(({ user }) => user.email.includes(wanted.trim().toLowerCase()))
  return (
    <>
      <Alert error={query.error ?? undefined} />
      {query.isPending && <p role="status">{t('loading')}</p>}
      {members && !query.hasNextPage && <p role="status">{t('members.count', { count: members.length })}</p>}
      {members && members.length >= minForFilter && (
        <search className="group-form group-field">
          <label htmlFor={field}>{t('members.filter')}</label>
          <input id={field} type="search" value={wanted} onChange={({ target }) => setWanted(target.value)} />
        </search>
      )}
      {shown?.length === 0 && wanted !== '' && <p>{t('members.noMatch')}</p>}
      <ul className="rows">
        {shown?.map((member) => (
          <MemberRow key={member.user.id} groupId={id} member={member} isOff={isOff} isReadOnly={isReadOnly} />
        ))}
      </ul>
      {query.hasNextPage && (
        <p>
          <Button isOff={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
            {query.isFetchingNextPage ? t('loading') : t('members.more')}
          </Button>
        </p>
      )}
    </>
  )
}

const byRoleAndAddress = (one: Member, other: Member) =>
  Number(other.role === 'manager') - Number(one.role === 'manager') || one.user.email.localeCompare(other.user.email)
