import { useTranslations } from 'use-intl/react'
import { RelativeTime, Day } from '#/admin/relative-time.tsx'
import { addressOf } from '#/admin/list/view.ts'
import { TypeName } from '#/components/type-name.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { Link } from '#/components/link.tsx'
import { pages } from '#/paths.ts'
import type { UserDialogProps } from './dialogs.tsx'
import { UserState } from './user-state.tsx'

/** All that is known of one user, with their containers. */
export function UserDetails({ user, onClose }: Pick<UserDialogProps, 'user' | 'onClose'>) {
  const t = useTranslations('admin.users')
  const text = useTranslations('admin.table')
  return (
    <Dialog title={user.email} onClose={onClose}>
      {(close) => (
        <>
          <dl className="facts">
            <dt>{t('details.state')}</dt>
            <dd>
              <UserState user={user} />
              <p className="hint">{t(`stateMeanings.${user.is_blocked ? 'blocked' : user.state}`)}</p>
            </dd>
            <dt>{t('details.slug')}</dt>
            <dd className="path">{user.slug}</dd>
            <dt>{t('details.id')}</dt>
            <dd>{user.id}</dd>
            <dt>{t('details.created')}</dt>
            <dd>
              <Day at={user.created_at} />
            </dd>
            <dt>{t('details.lastUsed')}</dt>
            <dd>
              <RelativeTime at={user.last_used} />
            </dd>
          </dl>
          <p>
            <Link to={addressOf(pages.adminUsage, { user: String(user.id) })}>{t('details.usage')}</Link>
          </p>
          <h3>{t('details.containers')}</h3>
          {user.containers.length === 0 ? (
            <p className="hint">{t('details.none')}</p>
          ) : (
            <>
              <ul className="facts-list">
                {user.containers.map(({ id, container_type, template_image, is_blocked, last_used }) => (
                  <li key={id}>
                    <span>
                      <strong>
                        <TypeName type={container_type} />
                      </strong>{' '}
                      {is_blocked && <span className="tag bad">{t('badges.blocked')}</span>}
                    </span>
                    <span className="path">{template_image}</span>
                    <RelativeTime at={last_used} />
                  </li>
                ))}
              </ul>
              <p>
                <Link to={addressOf(pages.adminContainers, { q: user.email })}>{t('details.all')}</Link>
              </p>
            </>
          )}
          <div className="actions end">
            <Button onPress={close}>{text('close')}</Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
