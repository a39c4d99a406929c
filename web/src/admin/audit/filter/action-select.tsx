import { useId } from 'react'
import { useTranslations } from 'use-intl/react'
import { actionsOf, groups, isKnownAction } from '../actions.ts'

/** Selects an action, or a group of actions. */
export function ActionSelect({ value }: { value: string }) {
  const t = useTranslations('admin.audit')
  const id = useId()
  const isListed = value === '' || isKnownAction(value) || groups.some((group) => value === `${group}.`)
  return (
    <div className="field">
      <label htmlFor={id}>{t('filter.action')}</label>
      <select id={id} name="action" defaultValue={value}>
        <option value="">{t('filter.all')}</option>
        {/* An action that the URL names and this page has no text for. */}
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
