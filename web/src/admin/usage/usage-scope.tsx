import { useId } from 'react'
import type { UsageResponse } from '@berth/api/schemas/administration/usage.ts'
import { useTranslations } from 'use-intl/react'
import { addressOf } from '#/admin/list/view.ts'
import { Segments } from '#/admin/segments.tsx'
import { Options } from '#/components/field.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { Link } from '#/components/link.tsx'
import { pages } from '#/paths.ts'
import { navigate } from '#/router/router.ts'
import { toQuery, type UsageUnit, type UsageView } from './usage-view.ts'
import { useUsedTypes } from './use-usage.ts'

/** The address of the page with this view. */
export const usagePath = (view: UsageView) => addressOf(pages.adminUsage, toQuery(view))

/** Selects the time, and whose use is shown. */
export function UsageScope({ view }: { view: UsageView }) {
  const t = useTranslations('admin.usage.scope')
  const units: readonly UsageUnit[] = ['day', 'month']
  return (
    <div className="usage-scope">
      <Segments
        label={t('time')}
        options={units}
        chosen={view.unit}
        textOf={(unit) => t(unit)}
        onChange={(unit) => navigate(usagePath({ ...view, unit, period: undefined }))}
      />
      <FilterForm view={view} />
    </div>
  )
}

function FilterForm({ view }: { view: UsageView }) {
  const t = useTranslations('admin.usage.scope')
  const id = useId()
  const nameOf = useTypeName()
  const types = useUsedTypes(view).data ?? []
  const listed = view.type === undefined || types.includes(view.type) ? types : [view.type, ...types]
  return (
    <search>
      <form
        className="usage-filter"
        aria-label={t('title')}
        onSubmit={(event) => {
          event.preventDefault()
          const data = new FormData(event.currentTarget)
          const text = (field: string) => String(data.get(field) ?? '').trim() || undefined
          const user = text('user')
          const group = user === undefined ? view.group : undefined
          const by = user === undefined ? view.by : 'type'
          navigate(usagePath({ ...view, type: text('type'), user, group, by }))
        }}
      >
        <div className="field">
          <label htmlFor={`${id}-type`}>{t('type')}</label>
          <select id={`${id}-type`} name="type" key={`${view.type} ${listed.length}`} defaultValue={view.type ?? ''}>
            <option value="">{t('everyType')}</option>
            <Options of={listed.map((type) => [type, nameOf(type)])} />
          </select>
        </div>
        <div className="field">
          <label htmlFor={`${id}-user`}>{t('user')}</label>
          <input
            id={`${id}-user`}
            name="user"
            key={view.user}
            defaultValue={view.user}
            maxLength={254}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            aria-describedby={`${id}-hint`}
          />
          <span id={`${id}-hint`} className="field-hint">
            {t('userHint')}
          </span>
        </div>
        <div className="actions">
          <button type="submit" className="button">
            {t('show')}
          </button>
        </div>
      </form>
    </search>
  )
}

/** Whose use it is, when it is not that of all, and the way back to all. */
export function UsageSubject({ view, subject }: { view: UsageView; subject: UsageResponse['subject'] }) {
  const t = useTranslations('admin.usage')
  const nameOf = useTypeName()
  if (subject === null && view.type === undefined) return null
  const name = subject === null ? undefined : (subject.name ?? t('gone', { id: String(subject.id) }))
  const all = usagePath({ ...view, type: undefined, group: undefined, user: undefined, period: undefined })
  return (
    <p className="usage-subject">
      <strong className="address">
        {subject && t(`of.${subject.kind}`, { name: name ?? '' })}
        {subject && view.type !== undefined && ' · '}
        {view.type !== undefined && t('of.type', { type: nameOf(view.type) })}
      </strong>{' '}
      <Link to={all}>{t('scope.clear')}</Link>
    </p>
  )
}
