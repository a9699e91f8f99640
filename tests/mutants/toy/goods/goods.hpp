#pragma once

/// Costs of `count` things; from ten on each is a tenth cheaper.
double price(int count);
int clamped(int value);
int never_called(int value);
int sum_to(int count);
