import type { TemplateProblem } from './read-templates.ts'
import type { Template } from './template.ts'

type Sharing = Pick<Template, 'type' | 'home' | 'homeOf' | 'homeSize' | 'homeSource'>

/** What types that share the home of a person must agree on, because there is one home. One problem at most for each type. */
export function sharedHomeProblems(templates: readonly Sharing[]): TemplateProblem[] {
  const [first, ...others] = templates.filter(({ home, homeOf }) => home !== null && homeOf === 'user')
  return others.flatMap((each) => {
    if (!first) return []
    const isOtherSource = JSON.stringify(each.homeSource) !== JSON.stringify(first.homeSource)
    const other = isOtherSource ? 'home_source' : each.homeSize === first.homeSize ? undefined : 'home_size'
    if (other === undefined) return []
    const problem =
      `${each.type}: ${other} is another than that of ${first.type}, and both have home_of: user: ` +
      `they share one home. Give both the same, or one of them home_of: type`
    return [{ type: each.type, problem }]
  })
}
