// What a plan recommends, in words, before any chart.

function recommendedOf({plan}) {
  return plan === null ? null : report.plan.plans[plan];
}

function choiceFact(choice) {
  const name = `On ${ranksText(choice.ranks)}`;
  const candidate = recommendedOf(choice);
  if (!candidate) {
    const [verdict] = choice.reasons;
    return fact(name, `✕ ${verdict.replace(/\.$/, '')}`, '', true);
  }
  return fact(name, candidate.strategy,
              `${candidateDetail(candidate)}: ${formatRate(candidate.tokens_per_s)} tokens/s, ` +
              `${formatQuantity(candidate.peak_bytes, 'B')} of ` +
              formatQuantity(candidate.device_memory_bytes, 'B'));
}

function choiceReasons({ranks, reasons}) {
  const [verdict, ...more] = reasons.map(withTightUnits);
  return element('div', {}, element('h3', {}, ranksText(ranks)),
                 element('p', {}, element('strong', {}, verdict)),
                 ...more.map((reason) => element('p', {}, reason)));
}

function showAnswerOfPlan() {
  const {recommendations} = report.plan;
  document.getElementById('answer').append(
      element('dl', {class: 'facts'}, ...recommendations.map(choiceFact)),
      element('div', {class: 'choices'}, ...recommendations.map(choiceReasons)));
}
