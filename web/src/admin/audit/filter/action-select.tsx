import { useId } from 'react'
import { useTranslations } from 'use-intl/react'
import { actionsOf, groups, isKnownAction } from '../actions.ts'

/** Which action, or kind of action, is to be shown. */
export function ActionSelect({ value }: { value: string }) {
  const t = useTranslations('admin.audit')
  const id = useId()
  const isListed = value === '' || isKnownAction(value) || groups.some((group) => value === `${group}.`)
  return (
    <div className="field">
      <label htmlFor={id}>{t('filter.action')}</label>
      <select id={id} name="action" defaultValue={value}>
        <option value="">{t('filter.all')}</option>
        {/* One that an address names and this page has no words for. */}
        {!isListed && <option value={value}>{value}</option>}
        {groups.map((group) => (
          <optgroup key={group} label={t(`group.${group}`)}>
            {actionsOf(group).length > 1 && <option value={`${group}.`}>{t(`group.${group}`)}</option>}
            {actionsOf(group).map((action) => (
              <option key={action} value={action}>
                {t(`action.${action}`)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </div>
  )
}
