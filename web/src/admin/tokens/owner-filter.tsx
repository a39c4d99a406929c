import { useId } from 'react'
import { useTranslations } from 'use-intl/react'
import { addressOf } from '#/admin/list/view.ts'
import { Link } from '#/components/link.tsx'
import { pages } from '#/paths.ts'
import { navigate } from '#/router/router.ts'

/** Whose tokens are shown. The address of the page holds it. */
export function OwnerFilter({ user }: { user: string }) {
  const t = useTranslations('admin.tokens.filter')
  const id = useId()
  return (
    <search>
      <form
        className="owner-filter"
        aria-label={t('title')}
        onSubmit={(event) => {
          event.preventDefault()
          const wanted = String(new FormData(event.currentTarget).get('user') ?? '').trim()
          navigate(addressOf(pages.adminTokens, { user: wanted }))
        }}
      >
        <label htmlFor={id}>{t('user')}</label>
        <input
          id={id}
          name="user"
          defaultValue={user}
          maxLength={254}
          autoComplete="off"
          spellCheck={false}
          aria-describedby={`${id}-hint`}
        />
        <p className="hint" id={`${id}-hint`}>
          {t('userHint')}
        </p>
        <div className="actions">
          <button type="submit" className="button">
            {t('show')}
          </button>
          {user !== '' && (
            <Link to={pages.adminTokens} className="button muted">
              {t('clear')}
            </Link>
          )}
        </div>
      </form>
    </search>
  )
}
