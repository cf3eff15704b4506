"""The best plans, by other methods: of budgets (`regions`), of loops (`schedules`, as text in
`schedule_text`).
"""
