// The page of a plan.

function colophonOfPlan() {
  return 'Each candidate was simulated for an optimizer step.';
}

function showPlan() {
  showAnswerOfPlan();
  report.plan.recommendations.forEach(({ranks}) => addChartsOfRanks(ranks));
  addTableOfPlan();
  if (report.plan.understood) {
    addUnderstoodOfPlan();
  }
  addAssumptionsOfPlan();
}
